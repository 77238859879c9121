import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { onAbort } from '../core/abort.ts'
import { json_channels } from '../core/json/channels.ts'
import { mcpRequestExcess } from '../core/json/mcp-request.ts'
import { readJson } from '../core/json/parse-json.ts'
import { GatewayRefusal } from './gateway-refusal.ts'

/** Responds as the MCP server of this name; null: the run has none. */
export type ToolServers = (server: string, request: Request) => Promise<Response | null>

const PATH = /^\/mcp\/([a-z0-9-]{1,64})$/
const MAX_BODY_BYTES = json_channels.mcp_request.bytes
/** What the protocol reads; nothing else of a program's request is passed on. */
const HEADERS = ['accept', 'content-type', 'mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id']

/** Returns the name of the MCP server that a path names; null: it names none. */
export const toolServerAt = (path: string): string | null => PATH.exec(path)?.[1] ?? null

/** Passes a message of a program to an MCP server of its run, and the response on as it comes. */
export async function passToolRequest(
  servers: ToolServers,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const body = await readBody(request)
  requireMessage(body)
  const headers = HEADERS.flatMap((header): [string, string][] => {
    const value = request.headers[header]
    return typeof value === 'string' ? [[header, value]] : []
  })
  const { method = 'GET' } = request
  const message = new Request(`http://gateway/mcp/${name}`, {
    method,
    headers,
    signal: gone.signal,
    ...(body.length > 0 && { body }),
  })
  const received = await servers(name, message)
  if (received === null) throw new GatewayRefusal(404, `This run has no MCP server ${name}.`)
  response.writeHead(received.status, Object.fromEntries(received.headers))
  await writeAll(received, response, gone.signal)
  response.end()
}

/**
 * Every call of a tool is a request, so that the bounds of requests are those of calls. What is not JSON is
 * left to the server.
 */
function requireMessage(body: Uint8Array): void {
  const { value, problem } = readJson('mcp_request', Buffer.from(body).toString())
  if (problem !== undefined && problem.limit !== null)
    throw new GatewayRefusal(413, `The body ${problem.message}.`)
  if (Array.isArray(value)) throw new GatewayRefusal(400, 'The body is a list. Send each message on its own.')
  const excess = mcpRequestExcess(value)
  if (excess !== null) throw new GatewayRefusal(413, `The body ${excess}.`)
}

/** Waits while the program reads nothing; ends when it has left. */
async function writeAll({ body }: Response, response: ServerResponse, gone: AbortSignal): Promise<void> {
  if (body === null) return
  const reader = body.getReader()
  using _ = onAbort(gone, () => void reader.cancel().catch(() => {}))
  for (;;) {
    const { done, value } = await reader.read()
    if (done || gone.aborted) return
    if (!response.write(value)) await once(response, 'drain', { signal: gone }).catch(() => {})
  }
}

async function readBody(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES)
      throw new GatewayRefusal(413, `A message to an MCP server has at most ${MAX_BODY_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Uint8Array.from(Buffer.concat(chunks))
}
