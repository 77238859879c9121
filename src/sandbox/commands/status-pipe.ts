import { type PipeReader, readPipe } from './pipe-reader.ts'

/** Messages from inside a sandbox, where anything can write into the pipe: short lines, and few. */
export type StatusPipe = Pick<PipeReader, 'drain' | 'ended' | 'discard' | 'close'> & {
  /** Allows the messages of one more command. */
  expectMore(): void
}

/** The limit for the messages of one command; above it the pipe is closed, as if the writer had died. */
const max_bytes = 4096
const max_line_length = 100

/**
 * Calls `on_line` for each line of a status pipe. The pipe is closed after too many bytes: commands can write
 * to it too.
 */
export function readStatus(path: string, on_line: (line: string) => void): StatusPipe {
  const split = splitLines(on_line)
  let bytes = 0
  const pipe = readPipe(path, chunk => {
    bytes += chunk.length
    if (bytes > max_bytes) pipe.close()
    else split(chunk)
  })
  return {
    ...pipe,
    expectMore() {
      bytes = 0
    },
  }
}

/** Calls `on_line` for each complete line; a line that is too long is cut. */
export function splitLines(on_line: (line: string) => void): (chunk: Uint8Array) => void {
  let rest = ''
  return chunk => {
    const lines = (rest + Buffer.from(chunk).toString('latin1')).split('\n')
    rest = (lines.pop() ?? '').slice(0, max_line_length)
    for (const line of lines) on_line(line.slice(0, max_line_length))
  }
}

/** Returns the exit code of a line "WORD CODE"; null for any other line. */
export function exitCode(line: string, word: string): number | null {
  const [first, code = ''] = line.split(' ')
  return first === word && /^\d{1,3}$/.test(code) ? Number(code) & 255 : null
}
