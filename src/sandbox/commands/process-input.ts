import { constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'

/** The standard input of a process inside. */
type ProcessInput = {
  /**
   * `end` closes the standard input of the process. After the end of the process it is destroyed, and a write
   * fails.
   */
  stdin: Writable
  /** Connects it to the pipe at `path`. */
  open(path: string): void
}

/** Returns a stream that holds back its writes until its pipe is open. */
export function createProcessInput(): ProcessInput {
  const { promise: opened, resolve } = Promise.withResolvers<Socket>()
  let pipe: Socket | undefined
  const stdin = new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      void opened.then(socket => socket.write(chunk, done))
    },
    final(done) {
      // A pipe has no half that could be closed.
      void opened.then(socket => socket.destroy()).then(() => done())
    },
    destroy(error, done) {
      pipe?.destroy()
      done(error)
    },
  })
  // A writer gets the failure of its write.
  stdin.on('error', () => {})
  return {
    stdin,
    open(path) {
      // Opened for reading too: there is no reader yet.
      const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
      pipe = new Socket({ fd, readable: false, writable: true })
      pipe.on('error', error => stdin.destroy(error))
      if (stdin.destroyed) pipe.destroy()
      resolve(pipe)
    },
  }
}
