import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { listen, type TestServer } from '../egress/servers.ts'

export type HttpMcpServer = TestServer & {
  origin: string
  /** The requests that it got, with their headers. */
  seen: { method: string; path: string; headers: IncomingMessage['headers'] }[]
}

/** The official server with two tools. `before` may respond itself. */
export async function serveMcp(
  before: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<HttpMcpServer> {
  const seen: HttpMcpServer['seen'] = []
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'tickets', version: '1' }, { capabilities: { tools: {} } })
    server.registerTool(
      'search',
      { description: 'Searches tickets.', inputSchema: z.object({ text: z.string() }) },
      ({ text }) => ({
        content: [{ type: 'text', text: `found ${text}` }],
      }),
    )
    const { authorization = '' } = seen.at(-1)?.headers ?? {}
    server.registerTool(
      'headers',
      { description: 'Shows how it was called.', inputSchema: z.object({}) },
      () => ({
        content: [{ type: 'text', text: `called with ${authorization}` }],
      }),
    )
    return server
  })
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers })
    if (before(request, response)) return
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body = pieces.length === 0 ? null : Buffer.concat(pieces)
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    const result = await handler.fetch(
      new Request(`http://localhost${request.url}`, { method: request.method ?? 'GET', headers, body }),
    )
    response.writeHead(result.status, Object.fromEntries(result.headers))
    if (result.body) for await (const piece of result.body) response.write(piece)
    response.end()
  }
  const server = await listen(
    createServer((request, response) => void serve(request, response).catch(() => response.destroy())),
    '127.0.0.1',
    0,
  )
  return { ...server, origin: `http://localhost:${server.port}`, seen }
}
