import type { BackgroundRedactor } from '../../redaction/port.ts'

/**
 * A line as the model gets it. `is_match`: neither context nor a separator of groups. `is_cut`: part of a
 * long line.
 */
export type FoundLine = { text: string; is_match: boolean; is_cut: boolean }

/**
 * A line as it is redacted. `head`: its file and number. `text`: the part around its first match, which is
 * the character `at` of it. `column`: of that match in the line, in bytes from 1; null: there is none.
 * `bytes`: of the whole line.
 */
type Part = {
  head: string
  text: string
  at: number
  column: number | null
  bytes: number
  before: number
  is_part: boolean
}

const [LF, CR] = [0x0a, 0x0d]
/** Characters of a line that are shown, and how many of them are before its match. */
const LINE_CHARS = 500
const BEFORE_MATCH = 100
/** Bytes of a line that are redacted: more than are shown, so that a value at an edge is complete then. */
const PART_BYTES = 2_000
/** Bytes of a file and a number. */
const MAX_HEAD = 8_192

/**
 * Reads what a search prints: `file NUL number NUL column NUL text` for a match, the same without a column
 * for a line of context, and `--` between groups. Of a long line the part around its first match stays.
 * `complete`: the lines have at most `max_bytes` then.
 */
export async function foundLines(
  output: Buffer,
  max_bytes: number,
  { bytes }: Pick<BackgroundRedactor, 'bytes'>,
): Promise<{ lines: FoundLine[]; complete: boolean }> {
  const parts: Part[] = []
  let kept = 0
  for (const line of linesIn(output)) {
    const part = partOf(line)
    if (part === null) continue
    kept += Buffer.byteLength(part.head) + Buffer.byteLength(part.text) + 1
    if (kept > max_bytes) break
    parts.push(part)
  }
  const clean = async (texts: string[]) =>
    Buffer.from(await bytes(Buffer.from(texts.join('\n'))))
      .toString()
      .split('\n')
  const heads = await clean(parts.map(({ head }) => head))
  const texts = await clean(parts.map(({ text }) => text))
  const complete = kept <= max_bytes
  if (parts.length === 0) return { lines: [], complete }
  if (heads.length === parts.length && texts.length === parts.length)
    return {
      lines: parts.map((part, i) => shownOf({ ...part, head: heads[i] ?? '', text: texts[i] ?? '' })),
      complete,
    }
  // A redacted value spans lines, so it is no longer known which text belongs to which match.
  const lines = await clean(parts.map(({ head, text }) => head + text))
  return { lines: lines.map(line => shownWithoutPosition(line)), complete }
}

/** What follows the last line break is empty, or was cut. */
function* linesIn(output: Buffer): Generator<Buffer> {
  for (let at = 0, end = output.indexOf(LF); end >= 0; at = end + 1, end = output.indexOf(LF, at))
    yield output.subarray(at, end)
}

/** Null: a message, for example about a binary file. */
function partOf(raw: Buffer): Part | null {
  const line = raw.at(-1) === CR ? raw.subarray(0, -1) : raw
  if (line.equals(SEPARATOR)) return { head: '--', ...around(Buffer.alloc(0), null) }
  const [, path, number, column] = HEAD.exec(line.subarray(0, MAX_HEAD).toString('latin1')) ?? []
  if (path === undefined || number === undefined) return null
  const mark = column === undefined ? '-' : ':'
  const file = Buffer.from(path, 'latin1').toString().replace(/^\.\//, '')
  const length = path.length + number.length + (column === undefined ? 2 : column.length + 3)
  return {
    head: `${file}${mark}${number}${mark}`,
    ...around(line.subarray(length), column === undefined ? null : Number(column)),
  }
}

const SEPARATOR = Buffer.from('--')
const HEAD = /^([^\0]+)\0(\d+)\0(?:(\d+)\0)?/

/** The part of a line around its match, in whole characters. */
function around(line: Buffer, column: number | null): Omit<Part, 'head'> {
  const match = (column ?? 1) - 1
  const from = boundary(line, Math.max(0, Math.min(match - PART_BYTES / 2, line.length - PART_BYTES)))
  const to = boundary(line, Math.min(line.length, from + PART_BYTES))
  const text = line.subarray(from, to).toString().replaceAll('\0', '\ufffd')
  const at = line.subarray(from, Math.max(from, match)).toString().length
  return { text, at, column, bytes: line.length, before: from, is_part: to - from < line.length }
}

/** The start of the character at a position. */
function boundary(line: Buffer, position: number): number {
  let at = position
  while (at > Math.max(0, position - 3) && ((line[at] ?? 0) & 0xc0) === 0x80) at--
  return at
}

function shownOf({ head, text, at, column, bytes, before, is_part }: Part): FoundLine {
  const is_match = column !== null
  if (!is_part && text.length <= LINE_CHARS) return { text: head + text, is_match, is_cut: false }
  const from = Math.max(0, Math.min(at - BEFORE_MATCH, text.length - LINE_CHARS))
  const shown = text.slice(from, from + LINE_CHARS).toWellFormed()
  const start = before + from > 0 ? '…' : ''
  const match = is_match ? `, its first match is at byte ${column}` : ''
  return {
    text: `${head}${start}${shown}… [line cut: it has ${bytes} bytes${match}]`,
    is_match,
    is_cut: true,
  }
}

function shownWithoutPosition(line: string): FoundLine {
  const is_match = /^.+?:\d+:/.test(line)
  if (line.length <= LINE_CHARS) return { text: line, is_match, is_cut: false }
  return { text: `${line.slice(0, LINE_CHARS).toWellFormed()}… [line cut]`, is_match, is_cut: true }
}
