import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

export type ReceivedRequest = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  at: number
}
/** The response: JSON with a status, or a function that writes it. */
export type Reply =
  | { status?: number; headers?: Record<string, string>; body?: unknown }
  | ((response: ServerResponse, request: IncomingMessage) => void)

/**
 * A real HTTP server that sends the prepared responses in order, the last one repeatedly, and keeps the
 * requests.
 */
export async function startResponding(
  ...replies: Reply[]
): Promise<AsyncDisposable & { base_url: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const at = performance.now()
    requests.push({ method, path, headers, body: await text(request), at })
    const reply = replies[Math.min(requests.length, replies.length) - 1] ?? {}
    if (typeof reply === 'function') return reply(response, request)
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    response.end(JSON.stringify(reply.body ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    base_url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
