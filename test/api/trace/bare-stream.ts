import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import Fastify from 'fastify'
import { expect } from 'vitest'
import { streamEvents } from '../../../src/http/event-stream.ts'
import { Feed, type Frame } from '../../../src/live/feed.ts'

/** A stream over a real socket with bounds of its own, from a source that `grow` and `add` extend. */
export async function startBareStream(bounds: Parameters<typeof streamEvents>[2]['bounds']) {
  const frames: Frame[] = []
  const feed = new Feed(
    {
      after: async (seq, limit) => frames.slice(seq, seq + limit),
      state: async () => null,
      current: async () => null,
    },
    error => expect(error).toBeUndefined(),
  )
  const app = Fastify()
  const responses: ServerResponse[] = []
  app.get('/events', (request, reply) => {
    responses.push(reply.raw)
    const cursor = Number(request.headers['last-event-id'] ?? 0)
    streamEvents(request, reply, { feed, cursor, opened: () => () => {}, bounds })
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const add = (data: string) =>
    frames.push({ seq: frames.length + 1, text: `id: ${frames.length + 1}\nevent: log\ndata: ${data}\n\n` })
  return {
    url: `http://127.0.0.1:${port}/events`,
    feed,
    responses,
    add(data: string) {
      add(data)
      feed.wake()
    },
    grow(count: number, bytes: number) {
      for (let i = 0; i < count; i++) add('x'.repeat(bytes))
      feed.wake()
    },
    async connect(): Promise<Socket> {
      const socket = connect({ host: '127.0.0.1', port })
      await once(socket, 'connect')
      socket.on('error', () => {})
      const responded = once(app.server, 'request')
      socket.write('GET /events HTTP/1.1\r\nhost: x\r\n\r\n')
      await responded
      return socket
    },
    async [Symbol.asyncDispose]() {
      app.server.closeAllConnections()
      await app.close()
    },
  }
}
