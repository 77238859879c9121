import type { BackgroundRedactor } from '../../redaction/port.ts'

/** Lines of a text, from 0; `end` is exclusive. */
type LineRange = { start: number; end: number }

const MAX_LINES_OF_RANGE = 16
const MAX_LINES = 60
const LINE_CHARS = 300

/** Returns text of one character per byte, so that bytes that are not UTF-8 stay as they are. */
export const bytesAsText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
export const textAsBytes = (text: string): Buffer => Buffer.from(text.toWellFormed(), 'utf8')
export const readable = (byte_text: string): string => Buffer.from(byte_text, 'latin1').toString('utf8')

/**
 * Returns ranges of lines with their numbers, as the model may see them: redacted in the whole text, because
 * a value may span lines, and bounded. Empty when redaction has changed the number of lines.
 */
export async function excerpt(
  text: string,
  ranges: LineRange[],
  redactor: BackgroundRedactor,
): Promise<string> {
  const lines = text.split('\n')
  const shown = (await redactor.text(text)).split('\n')
  if (shown.length !== lines.length) return ''
  const parts: string[] = []
  for (const { start, end } of joinedRanges(ranges)) {
    const count = Math.min(end, lines.length) - start
    const tail = count > MAX_LINES_OF_RANGE ? MAX_LINES_OF_RANGE / 2 : 0
    const head = tail > 0 ? tail : count
    parts.push(...numbered(shown, start, start + head))
    if (tail > 0) parts.push('…', ...numbered(shown, start + count - tail, start + count))
    if (parts.length > MAX_LINES) return [...parts.slice(0, MAX_LINES), '…'].join('\n')
  }
  return parts.join('\n')
}

const numbered = (lines: string[], start: number, end: number) =>
  lines.slice(start, end).map((line, i) => {
    const text = line.replace(/\r$/, '')
    return `${start + i + 1}: ${text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS).toWellFormed()}…` : text}`
  })

function joinedRanges(ranges: LineRange[]): LineRange[] {
  const joined: LineRange[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1)
    if (last !== undefined && range.start <= last.end) last.end = Math.max(last.end, range.end)
    else joined.push({ ...range })
  }
  return joined
}
