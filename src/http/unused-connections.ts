import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Tracks connections without a request yet: Node closes idle ones gracefully, but counts these as busy.
 * Returns the function that closes them.
 */
export function watchUnused(server: Server): () => void {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket))
  return () => {
    // A request whose bytes have begun to arrive is still processed.
    for (const socket of unused) if (socket.bytesRead === 0) socket.end()
  }
}
