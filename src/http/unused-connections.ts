import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Connections on which nothing was asked yet. Node closes idle ones at an end in order, but takes these for busy. Answers what hangs up on them. */
export function watchUnused(server: Server): () => void {
  const unused = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket))
  return () => {
    // A request that has begun to come is answered.
    for (const socket of unused) if (socket.bytesRead === 0) socket.end()
  }
}
