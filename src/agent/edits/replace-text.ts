import { occurrences } from './find-sequence.ts'
import { countBelow, lineNumbers } from './line-numbers.ts'

/** Offsets of a changed part in a text, `end` exclusive. */
export type Region = { start: number; end: number }
export type TextEdit = { old: string; new: string; replace_all?: boolean | undefined }

/**
 * `regions`: changed parts of the new text, joined where they share a line, and at last where they are too
 * many. `moved`: where a position of the old text is in the new one. `ambiguous`: the line numbers of the
 * first occurrences; `more`: there are others. `excessive`: the limit it exceeds.
 */
export type Replacement =
  | { kind: 'replaced'; text: string; count: number; regions: Region[]; moved(position: number): number }
  | { kind: 'missing' }
  | { kind: 'ambiguous'; lines: number[]; more: boolean }
  | { kind: 'excessive'; limit: string }

/** Occurrences that are named when there must be one, and that are replaced at most. */
const MAX_NAMED = 20
const MAX_REPLACEMENTS = 100_000
/** One more than an excerpt has lines; the last one reaches to the end of all changes. */
const MAX_REGIONS = 61

/**
 * Replaces `old` by `new`. Line endings of the text stay as they are: where an exact match fails, LF and CRLF
 * count as the same, and so do a last line with and without its line break. The new text has at most
 * `max_length` characters. The time is linear in the lengths of both texts.
 */
export function replaceText(text: string, edit: TextEdit, max_length: number): Replacement {
  const max = edit.replace_all === true ? MAX_REPLACEMENTS : MAX_NAMED
  const { found, replacement } = findMatches(text, edit, max + 1)
  if (found.length === 0) return { kind: 'missing' }
  if (edit.replace_all !== true && found.length > 1) {
    const lineOf = lineNumbers(text)
    return {
      kind: 'ambiguous',
      lines: found.slice(0, max).map(({ start }) => lineOf(start)),
      more: found.length > max,
    }
  }
  if (found.length > max) return { kind: 'excessive', limit: `\`old\` occurs more than ${max} times` }
  return replaced(text, found, replacement, max_length)
}

function replaced(text: string, found: Region[], replacement: string, max_length: number): Replacement {
  const isWindows = lineEndings(text)
  const windows = replacement.replace(/\r?\n/g, '\r\n')
  const pieces: string[] = []
  /** How much longer the new text is after each match. */
  const growths: number[] = []
  const regions: Region[] = []
  let [from, growth, line_end] = [0, 0, -1]
  for (const { start, end } of found) {
    const inserted = isWindows(start) ? windows : replacement
    pieces.push(text.slice(from, start), inserted)
    const region = { start: start + growth, end: start + growth + inserted.length }
    const last = regions.at(-1)
    if (last !== undefined && (start <= line_end || regions.length === MAX_REGIONS)) last.end = region.end
    else regions.push(region)
    if (end > line_end) line_end = breakAfter(text, end)
    growth += inserted.length - (end - start)
    growths.push(growth)
    from = end
  }
  const length = text.length + growth
  if (length > max_length)
    return { kind: 'excessive', limit: `the file would have ${length} bytes, more than ${max_length}` }
  pieces.push(text.slice(from))
  const starts = found.map(({ start }) => start)
  const moved = (position: number) => position + (growths[countBelow(starts, position) - 1] ?? 0)
  return { kind: 'replaced', text: pieces.join(''), count: found.length, regions, moved }
}

function findMatches(text: string, edit: TextEdit, max: number): { found: Region[]; replacement: string } {
  const { old } = edit
  const replacement = text.includes('\n') ? edit.new.replaceAll('\r\n', '\n') : edit.new
  const exact = occurrences(text, old)
    .take(max)
    .map(start => ({ start, end: start + old.length }))
    .toArray()
  // Only what matches with its CRLF knows which lines have it.
  if (exact.length > 0) return { found: exact, replacement: old.includes('\r\n') ? edit.new : replacement }
  if (text.includes('\r\n') || old.includes('\r\n')) {
    const found = matchesOfAnyEnding(text, old, max)
    if (found.length > 0) return { found, replacement }
  }
  const line = old.replace(/\r?\n$/, '')
  if (line === old || line === '' || !text.endsWith(line)) return { found: [], replacement }
  return {
    found: [{ start: text.length - line.length, end: text.length }],
    replacement: replacement.replace(/\r?\n$/, ''),
  }
}

/** Matches in the text with LF only, as offsets of the text. */
function matchesOfAnyEnding(text: string, old: string, max: number): Region[] {
  let removed = 0
  let next = text.indexOf('\r\n')
  // The positions ascend, so each line ending is counted once.
  const original = (position: number) => {
    while (next >= 0 && next - removed < position) {
      removed++
      next = text.indexOf('\r\n', next + 2)
    }
    return position + removed
  }
  const wanted = old.replaceAll('\r\n', '\n')
  return occurrences(text.replaceAll('\r\n', '\n'), wanted)
    .take(max)
    .map(start => ({ start: original(start), end: original(start + wanted.length) }))
    .toArray()
}

/**
 * Returns a function for ascending positions: whether the line ends with CRLF, or, for the last one without
 * an ending, the line before.
 */
function lineEndings(text: string): (position: number) => boolean {
  const last = text.lastIndexOf('\n')
  let next = text.indexOf('\n')
  return position => {
    if (next >= 0 && next < position) next = text.indexOf('\n', position)
    const ending = next >= 0 ? next : last
    return ending > 0 && text[ending - 1] === '\r'
  }
}

function breakAfter(text: string, position: number): number {
  const at = text.indexOf('\n', position)
  return at < 0 ? text.length : at
}
