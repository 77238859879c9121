import { createMcpHandler, Server } from '@modelcontextprotocol/server'

/** `description` and `input_schema` are bounded and redacted already. */
export type ServedTool = { name: string; description: string; input_schema: Record<string, unknown> }
/** `images`: data URIs. */
export type ServedResult = { text: string; images: readonly string[]; is_error: boolean }
/** Calls a tool once. `signal` is aborted when the client has left. */
export type ServedToolCaller = (
  tool: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<ServedResult>

/**
 * Returns a server of these tools (Streamable HTTP, both current revisions). Nothing is kept between two
 * requests.
 */
export function serveTools(
  name: string,
  tools: readonly ServedTool[],
  call: ServedToolCaller,
): (request: Request) => Promise<Response> {
  const listed = tools.map(({ input_schema, ...tool }) => ({
    ...tool,
    inputSchema: { ...input_schema, type: 'object' as const },
  }))
  const handler = createMcpHandler(() => {
    const server = new Server({ name, version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler('tools/list', () => ({ tools: listed }))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const { text, images, is_error } = await call(params.name, params.arguments ?? {}, mcpReq.signal)
      return { content: [{ type: 'text', text }, ...images.map(imageContent)], isError: is_error }
    })
    return server
  })
  return request => handler.fetch(request)
}

function imageContent(uri: string) {
  const [, mimeType = '', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(uri) ?? []
  return { type: 'image' as const, mimeType, data }
}
