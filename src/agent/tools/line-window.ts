/**
 * A run of whole lines of a file, as raw bytes. A line ends with LF; the last one of the file may lack it.
 */
export type LineWindow = {
  bytes: Buffer
  /**
   * Whether the requested lines have more bytes than these. The beginning of a line is kept only where not
   * even the first one fits.
   */
  cut: boolean
  /** Lines and bytes of the whole file. */
  total_lines: number
  total_bytes: number
}

const LF = 0x0a

/**
 * Collects `count` lines from line `first` of a file that arrives in pieces of any size; it keeps at most
 * `max_bytes` of them, so a file of one endless line takes no more memory.
 */
export function lineWindow(
  first: number,
  count: number,
  max_bytes: number,
): { add(chunk: Uint8Array): void; finish(): LineWindow } {
  const kept: Uint8Array[] = []
  let kept_bytes = 0
  let cut = false
  let total_bytes = 0
  // The number of the line that the next byte belongs to.
  let line = 1
  let last_byte = LF
  const keep = (chunk: Uint8Array) => {
    const part = chunk.subarray(0, max_bytes - kept_bytes)
    cut ||= part.length < chunk.length
    if (part.length === 0) return
    kept.push(part)
    kept_bytes += part.length
  }
  return {
    add(chunk) {
      total_bytes += chunk.length
      last_byte = chunk.at(-1) ?? last_byte
      let at = 0
      while (at < chunk.length) {
        const end = chunk.indexOf(LF, at)
        const next = end < 0 ? chunk.length : end + 1
        if (line >= first && line < first + count) keep(chunk.subarray(at, next))
        if (end >= 0) line++
        at = next
      }
    },
    finish() {
      const bytes = Buffer.concat(kept)
      const total_lines = last_byte === LF ? line - 1 : line
      return { bytes: cut ? wholeLines(bytes) : bytes, cut, total_lines, total_bytes }
    },
  }
}

function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf(LF) + 1
  return end === 0 ? bytes : bytes.subarray(0, end)
}
