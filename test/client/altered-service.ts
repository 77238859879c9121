import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'

export type ApiResponse = { status: number; headers: Record<string, string>; body: string }

/**
 * A service behind a proxy that changes responses: each goes through `alter`, which may return it unchanged.
 * Streams are held back.
 */
export async function startAltered(
  base_url: string,
  alter: (path: string, result: ApiResponse) => ApiResponse,
): Promise<AsyncDisposable & { base_url: string; paths: string[] }> {
  const paths: string[] = []
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? ''
    paths.push(path)
    const through = httpRequest(
      base_url + path,
      { method: incoming.method, headers: incoming.headers },
      async response => {
        if (response.headers['content-type']?.startsWith('text/event-stream')) {
          outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
          outgoing.on('close', () => response.destroy())
          return response.on('error', () => {}).resume()
        }
        const headers = Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        )
        const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = headers
        const result = alter(path, {
          status: response.statusCode ?? 0,
          headers: kept,
          body: await text(response),
        })
        outgoing.sendDate = false
        outgoing.writeHead(result.status, result.headers).end(result.body)
      },
    )
    through.on('error', () => outgoing.destroy())
    incoming.pipe(through)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    base_url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    paths,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
