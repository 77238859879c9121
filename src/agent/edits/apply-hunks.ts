import { yieldToOthers } from '../../core/yield-to-others.ts'
import { bytesAsText, readable, textAsBytes } from './excerpt.ts'
import { findSequence } from './find-sequence.ts'
import type { Hunk } from './patch-format.ts'
import { plainMarks } from './plain-marks.ts'

/** `text`: the changed file. `failed`: the hunk that does not match, and the lines that it expects. */
export type AppliedHunks =
  | { text: string }
  | { failed: Hunk; number: number; wanted: string[]; anchor: string | null }

/** Lines of larger files are compared exactly only. */
const MAX_LOOSE_LINES = 100_000

/**
 * A file of one character per byte. `raw`: lines with their endings. `forms`: as text, without endings, in
 * each normal form that was needed.
 */
type Lines = { raw: string[]; forms: string[][] }

const LINE = /[^\n]+\n?|\n/g
const ENDING = /\r?\n$/

/**
 * Applies the hunks of one file in their order, each after the one before. Lines are compared exactly, then
 * without white space at the end, then at both ends, then with plain quotes and dashes. Lines of context stay
 * as the file has them, and so do its line endings and a missing last line break. The time is linear in the
 * lines of the file for each hunk, and others run between two hunks.
 */
export async function applyHunks(byte_text: string, hunks: Hunk[]): Promise<AppliedHunks> {
  const lines = linesOf(byte_text)
  const parts: string[][] = []
  let done = 0
  for (const [i, hunk] of hunks.entries()) {
    await yieldToOthers()
    const { anchors, at_end } = hunk
    let from = done
    for (const anchor of anchors) {
      const at = seek(lines, [anchor], from, false)
      if (at === null) return { failed: hunk, number: i + 1, wanted: [anchor], anchor }
      from = at + 1
    }
    const wanted = hunk.lines.flatMap(({ sign, text }) => (sign === '+' ? [] : [text]))
    const start = wanted.length === 0 ? insertion(lines, anchors, from) : seek(lines, wanted, from, at_end)
    if (start === null) return { failed: hunk, number: i + 1, wanted, anchor: anchors.at(-1) ?? null }
    parts.push(lines.raw.slice(done, start), replaced(lines, hunk, start))
    done = start + wanted.length
  }
  parts.push(lines.raw.slice(done))
  return { text: joined(parts.flat(), lines) }
}

function linesOf(byte_text: string): Lines {
  const raw = byte_text.match(LINE) ?? []
  const shown = readable(byte_text).match(LINE) ?? []
  return { raw, forms: [shown.map(line => line.replace(/\r?\n?$/, ''))] }
}

/**
 * A file without a line break at its end gets none: its last line lacks it, and so does the line that is the
 * last one now.
 */
function joined(result: string[], { raw }: Lines): string {
  const unended = raw.at(-1)
  if (unended === undefined || unended.endsWith('\n')) return result.join('')
  const last = result.length - 1
  const ended = unended + endingAt(raw, raw.length)
  return result
    .map((line, i) =>
      line === unended ? (i === last ? line : ended) : i === last ? line.replace(ENDING, '') : line,
    )
    .join('')
}

/**
 * Returns the ending of lines that are added before line `at`: that of this line, or of one before it; only
 * the last line may have none.
 */
function endingAt(raw: string[], at: number): string {
  const near = [raw[at], raw[at - 1], raw[at - 2]].find(line => line?.endsWith('\n'))
  return near?.endsWith('\r\n') ? '\r\n' : '\n'
}

/** Lines that are only added follow the anchor, or the last line. */
const insertion = ({ raw }: Lines, anchors: string[], from: number) =>
  anchors.length > 0 ? from : raw.length

function replaced({ raw }: Lines, { lines }: Hunk, start: number): string[] {
  const ending = endingAt(raw, start)
  let at = start
  return lines.flatMap(({ sign, text }) => {
    if (sign === '+') return [bytesAsText(textAsBytes(text)) + ending]
    const line = raw[at++] ?? ''
    return sign === ' ' ? [line] : []
  })
}

/** Each is less exact than the one before. */
const NORMAL_FORMS: ((line: string) => string)[] = [
  line => line,
  line => line.trimEnd(),
  line => line.trim(),
  line => plainMarks(line.trim()),
]

/** Where the wanted lines are; at the end of the file first, when they must be there. Null: nowhere. */
function seek(lines: Lines, wanted: string[], from: number, at_end: boolean): number | null {
  const last = lines.raw.length - wanted.length
  if (last < from) return null
  for (const [form, normal] of NORMAL_FORMS.entries()) {
    if (form > 0 && lines.raw.length > MAX_LOOSE_LINES) return null
    const in_file = lines.forms[form] ?? (lines.forms[0] ?? []).map(normal)
    lines.forms[form] = in_file
    const sought = wanted.map(normal)
    if (at_end && sought.every((line, i) => in_file[last + i] === line)) return last
    const found = findSequence(in_file, sought, from)
    if (found !== null) return found
  }
  return null
}
