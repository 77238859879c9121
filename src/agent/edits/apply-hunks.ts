import { bytesAsText, readable, textAsBytes } from './excerpt.ts'
import type { Hunk } from './patch-format.ts'

/** `text`: the changed file. `failed`: the hunk that does not match, and the lines that it expects. */
export type AppliedHunks = { text: string } | { failed: Hunk; number: number; wanted: string[]; anchor: string | null }

/** A file of one character per byte. `shown`: its lines as text, without CR. */
type Lines = { raw: string[]; shown: string[]; ends_with_newline: boolean }

/**
 * Applies the hunks of one file in their order, each after the one before. Lines are compared exactly, then without white space at the end, then at
 * both ends, then with plain quotes and dashes. Lines of context stay as the file has them, and so do its line endings and a missing last line
 * break.
 */
export function applyHunks(byte_text: string, hunks: Hunk[]): AppliedHunks {
  const lines = linesOf(byte_text)
  const result: string[] = []
  let done = 0
  for (const [i, hunk] of hunks.entries()) {
    const { anchors, at_end } = hunk
    let from = done
    for (const anchor of anchors) {
      const at = seek(lines.shown, [anchor], from, false)
      if (at === null) return { failed: hunk, number: i + 1, wanted: [anchor], anchor }
      from = at + 1
    }
    const wanted = hunk.lines.flatMap(({ sign, text }) => (sign === '+' ? [] : [text]))
    const start = wanted.length === 0 ? insertion(lines, anchors, from) : seek(lines.shown, wanted, from, at_end)
    if (start === null) return { failed: hunk, number: i + 1, wanted, anchor: anchors.at(-1) ?? null }
    result.push(...lines.raw.slice(done, start), ...replaced(lines, hunk, start))
    done = start + wanted.length
  }
  result.push(...lines.raw.slice(done))
  return { text: result.join('\n') + (lines.ends_with_newline && result.length > 0 ? '\n' : '') }
}

function linesOf(byte_text: string): Lines {
  const ends_with_newline = byte_text === '' || byte_text.endsWith('\n')
  const raw = byte_text === '' ? [] : byte_text.split('\n')
  if (byte_text.endsWith('\n')) raw.pop()
  return { raw, shown: raw.map(line => readable(line).replace(/\r$/, '')), ends_with_newline }
}

/** Lines that are only added follow the anchor, or the last line. */
const insertion = ({ raw }: Lines, anchors: string[], from: number) => (anchors.length > 0 ? from : raw.length)

function replaced({ raw }: Lines, { lines }: Hunk, start: number): string[] {
  const ending = (raw[start] ?? raw[start - 1] ?? '').endsWith('\r') ? '\r' : ''
  let at = start
  return lines.flatMap(({ sign, text }) => {
    if (sign === '+') return [bytesAsText(textAsBytes(text)) + ending]
    const line = raw[at++] ?? ''
    return sign === ' ' ? [line] : []
  })
}

const plainMarks = (line: string) =>
  line
    .trim()
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ')
const NORMAL_FORMS: ((line: string) => string)[] = [line => line, line => line.trimEnd(), line => line.trim(), plainMarks]

/** Where the wanted lines are; at the end of the file first, when they must be there. Null: nowhere. */
function seek(lines: string[], wanted: string[], from: number, at_end: boolean): number | null {
  const last = lines.length - wanted.length
  for (const normal of NORMAL_FORMS) {
    const [in_file, sought] = [lines.map(normal), wanted.map(normal)]
    const matches = (start: number) => sought.every((line, i) => in_file[start + i] === line)
    if (at_end && last >= from && matches(last)) return last
    for (let start = from; start <= last; start++) if (matches(start)) return start
  }
  return null
}
