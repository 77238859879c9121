import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import type { App } from '../start-app.ts'

/** Both revisions of the protocol, as the official client negotiates them. */
export const revisions = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
] as const
type Mode = (typeof revisions)[number][1]

export type McpClient = AsyncDisposable & {
  client: Client
  /** The result of a call that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read results of many shapes
  succeed(name: string, args?: Record<string, unknown>): Promise<any>
  /** The problem of a call that must be refused. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read problems of many shapes
  refuse(name: string, args?: Record<string, unknown>): Promise<any>
}

/**
 * Connects the official client. The tools are listed, so that it validates every result against the schema of
 * its tool.
 */
export async function connectClient(
  app: Pick<App, 'base_url' | 'token'>,
  mode: Mode = { pin: '2026-07-28' },
): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${app.token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', app.base_url), { requestInit: { headers } }),
  )
  await client.listTools()
  const textOf = ({ content }: CallToolResult) => {
    const [first] = content
    if (first?.type !== 'text' || content.length !== 1)
      throw new Error(`not one text: ${JSON.stringify(content)}`)
    return JSON.parse(first.text)
  }
  return {
    client,
    async succeed(name, args = {}) {
      const result = await client.callTool({ name, arguments: args })
      expect({ name, refused: result.isError ? textOf(result) : null }).toEqual({ name, refused: null })
      expect(textOf(result)).toEqual(result.structuredContent)
      return result.structuredContent
    },
    async refuse(name, args = {}) {
      const result = await client.callTool({ name, arguments: args })
      expect({ name, isError: result.isError, data: result.structuredContent }).toEqual({
        name,
        isError: true,
        data: undefined,
      })
      return textOf(result)
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

type To = Pick<App, 'base_url' | 'token'>

/** Sends one message without a client. */
export function send(
  { base_url, token }: To,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const own = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(`${base_url}/mcp`, { method: 'POST', headers: { ...own, ...headers }, body: text })
}

/** The same, with the JSON of the response, or of the first event of its stream. */
export async function post(to: To, body: unknown, headers: Record<string, string> = {}) {
  const response = await send(to, body, headers)
  const text = await response.text()
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  return { status: response.status, headers: response.headers, body: data === '' ? null : JSON.parse(data) }
}

export const message = (method: string, params: Record<string, unknown> = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
})
