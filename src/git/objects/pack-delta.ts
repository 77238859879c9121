/** A delta of less is not worth its base. */
const MIN_BYTES = 100
const MIN_LINE_BYTES = 12
/** What is cut to a fraction is stored as it is: the time depends on the change, not on its base. */
const MAX_RATIO = 4
const MAX_COPY = 0xff_ff_ff
const MAX_INSERT = 127

/**
 * Returns how `bytes` differ from `base`, in the format of git's packs: the same beginning, end and lines are
 * copied. Null: it would be no shorter than half.
 */
export function packDelta(base: Buffer, bytes: Buffer): Buffer | null {
  if (bytes.length < MIN_BYTES || base.length > MAX_RATIO * bytes.length) return null
  const shorter = Math.min(base.length, bytes.length)
  let same = 0
  while (same < shorter && base[same] === bytes[same]) same++
  let same_end = 0
  while (same_end < shorter - same && base[base.length - 1 - same_end] === bytes[bytes.length - 1 - same_end])
    same_end++
  const parts = [
    { from: 0, length: same },
    ...lineMatches(
      base.subarray(same, base.length - same_end),
      bytes.subarray(same, bytes.length - same_end),
    ).map(part => (Buffer.isBuffer(part) ? part : { from: part.from + same, length: part.length })),
    { from: base.length - same_end, length: same_end },
  ]
  const delta = Buffer.concat([
    lengthOf(base.length),
    lengthOf(bytes.length),
    ...parts.flatMap(part => (Buffer.isBuffer(part) ? insertions(part) : copies(part.from, part.length))),
  ])
  return delta.length > bytes.length / 2 ? null : delta
}

type CopiedPart = { from: number; length: number }

/** Returns `bytes` in parts: lines that `base` has too, and what is new. A short line is not searched for. */
function lineMatches(base: Buffer, bytes: Buffer): (CopiedPart | Buffer)[] {
  const lines = new Map<string, number>()
  for (const [from, line] of linesOf(base)) if (line.length >= MIN_LINE_BYTES) lines.set(line, from)
  const parts: (CopiedPart | Buffer)[] = []
  let written = 0
  let copied: CopiedPart = { from: 0, length: 0 }
  for (const [at, line] of linesOf(bytes)) {
    const follows = copied.from + copied.length
    if (
      at === written &&
      copied.length > 0 &&
      base.toString('latin1', follows, follows + line.length) === line
    ) {
      copied.length += line.length
      written += line.length
      continue
    }
    const from = lines.get(line)
    if (from === undefined) continue
    if (at > written) parts.push(bytes.subarray(written, at))
    copied = { from, length: line.length }
    parts.push(copied)
    written = at + line.length
  }
  if (written < bytes.length) parts.push(bytes.subarray(written))
  return parts
}

/** Yields each line with its end, and where it begins. */
function* linesOf(bytes: Buffer): Generator<[number, string]> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at)
    const next = end < 0 ? bytes.length : end + 1
    yield [at, bytes.toString('latin1', at, next)]
    at = next
  }
}

/** Returns a number in groups of seven bits, the lowest first. */
function lengthOf(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push(0x80 | (rest & 127))
  return Buffer.from([...bytes, rest])
}

function copies(from: number, length: number): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < length; at += MAX_COPY) parts.push(copy(from + at, Math.min(MAX_COPY, length - at)))
  return parts
}

/** The first byte has a bit for each byte of offset and size that follows. */
function copy(offset: number, size: number): Buffer {
  let present = 0x80
  const bytes: number[] = []
  for (const [i, byte] of [...littleEndian(offset, 4), ...littleEndian(size, 3)].entries()) {
    if (byte === 0) continue
    present |= 1 << i
    bytes.push(byte)
  }
  return Buffer.from([present, ...bytes])
}

const littleEndian = (value: number, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256)

function insertions(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += MAX_INSERT) {
    const part = bytes.subarray(at, at + MAX_INSERT)
    parts.push(Buffer.from([part.length]), part)
  }
  return parts
}
