import { constants, openSync, readSync } from 'node:fs'
import { Socket } from 'node:net'

/** The reading end of a named pipe. */
export type PipeReader = {
  /**
   * Delivers the current content of the pipe immediately. Returns true when the pipe has ended: it has no
   * writer.
   */
  drain(): boolean
  /** Resolves when every writer has closed it, or after `close`. */
  readonly ended: Promise<void>
  /**
   * From now on output is discarded, slowly, until the pipe ends: a process left in the background can
   * continue writing.
   */
  discard(): void
  close(): void
}

/** More than any pipe holds: a writer that never pauses cannot keep `drain` busy. */
const max_drained_bytes = 2 * 1024 * 1024
const discard_pause_ms = 100
/** Shared by all readers: data is delivered before anything else is read, so that a flood takes no memory. */
const buffer = Buffer.allocUnsafeSlow(65_536)

/**
 * Opens the pipe at `path` without waiting for a writer and passes data to `on_data`, which must copy what it
 * keeps. While a promise that `on_data` returned is pending nothing more is read; it must not reject.
 */
export function readPipe(path: string, on_data: (chunk: Uint8Array) => Promise<void> | void): PipeReader {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  let discarding = false
  /** Returns false to stop reading until `resume`. */
  const take = (length: number): boolean => {
    if (discarding) {
      setTimeout(() => socket.resume(), discard_pause_ms).unref()
      return false
    }
    const busy = on_data(buffer.subarray(0, length))
    busy?.then(() => socket.resume())
    return !busy
  }
  const socket = new Socket({
    fd: descriptor,
    readable: true,
    writable: false,
    onread: { buffer, callback: take },
  })
  const ended = new Promise<void>(resolve => {
    socket.once('close', () => resolve())
  })
  // A pipe has no errors of its own; one of the socket closes it.
  socket.on('error', () => {})
  return {
    ended,
    drain() {
      for (let drained = 0; !socket.destroyed && drained < max_drained_bytes; ) {
        const length = readAvailable(descriptor)
        if (length === null) return false
        if (length === 0) return true
        drained += length
        if (!discarding) on_data(buffer.subarray(0, length))
      }
      return socket.destroyed
    },
    discard() {
      discarding = true
      socket.resume()
    },
    close() {
      socket.destroy()
    },
  }
}

/** Fills `buffer`. Returns 0 at the end of the pipe, null when it is empty. */
function readAvailable(descriptor: number): number | null {
  try {
    return readSync(descriptor, buffer)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null
    throw error
  }
}
