import { closeSync, constants, fstatSync, openSync, write } from 'node:fs'
import { pause } from '../core/pause.ts'
import { settledWithin } from '../core/timeout.ts'

/** Bytes that may wait to be written; then lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024
const FLUSH_TIMEOUT_MS = 1_000
const RETRY_DELAY_MS = 20

type LineWriter = AsyncDisposable & { write(line: string): void }

/**
 * Writes lines to a pipe or a terminal beside the work: a reader that stops reading loses lines, where
 * `process.stderr` would block the whole process until it continues. `dropped` returns the line that reports
 * how many are missing. Anything else (a file, a socket) is written to by `plain`, because only pipes and
 * terminals can be opened once more, for us alone. Disposing it waits a second for what is left.
 */
export function lineWriter(
  fd: number,
  plain: (line: string) => void,
  dropped: (count: number) => string,
): LineWriter {
  const own = openOnceMore(fd)
  if (own === null) return { write: plain, [Symbol.asyncDispose]: async () => {} }
  let waiting: Buffer[] = []
  let bytes = 0
  let missing = 0
  let writing: Promise<void> | null = null
  let over = false

  const add = (text: string) => {
    const line = Buffer.from(text)
    waiting.push(line)
    bytes += line.length
  }
  const writeAll = async () => {
    while (waiting.length > 0) {
      const chunk = Buffer.concat(waiting)
      waiting = []
      await writeWhole(own, chunk, () => over)
      bytes -= chunk.length
      if (missing === 0) continue
      add(dropped(missing))
      missing = 0
    }
  }
  return {
    write(line) {
      if (bytes > MAX_WAITING_BYTES || over) {
        missing++
        return
      }
      add(line)
      writing ??= writeAll().finally(() => {
        writing = null
      })
    },
    async [Symbol.asyncDispose]() {
      if (writing !== null) await settledWithin(writing, FLUSH_TIMEOUT_MS)
      over = true
      await writing
      closeSync(own)
    },
  }
}

/**
 * The same pipe or terminal under a number of our own that never blocks: on the one that we were given others
 * may rely to block.
 */
function openOnceMore(fd: number): number | null {
  try {
    const kind = fstatSync(fd)
    if (!kind.isFIFO() && !kind.isCharacterDevice()) return null
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return null
  }
}

/** A reader that has gone, like a full disk, costs the lines. */
async function writeWhole(fd: number, bytes: Buffer, isOver: () => boolean): Promise<void> {
  for (let at = 0; at < bytes.length && !isOver(); ) {
    const [error, written] = await new Promise<[NodeJS.ErrnoException | null, number]>(resolve =>
      write(fd, bytes, at, (failure, count) => resolve([failure, count])),
    )
    if (error !== null && error.code !== 'EAGAIN') return
    if (error !== null) await pause(RETRY_DELAY_MS)
    else at += written
  }
}
