import { writeSync } from 'node:fs'

/** What Linux writes into a pipe as a whole or not at all (PIPE_BUF). */
const MAX_BYTES = 4096

/**
 * Writes a line into a pipe that does not block. Throws EAGAIN when the pipe is full, and RangeError for a
 * line that could be split.
 */
export function writePipeLine(pipe: number, line: string): void {
  const bytes = Buffer.from(`${line}\n`)
  if (bytes.length > MAX_BYTES) throw new RangeError(`a line of ${bytes.length} bytes could be split`)
  writeSync(pipe, bytes)
}
