import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A request as a fake model server saw it. `at` is performance.now() when the last byte of it was there,
 * `responded_at` when the last byte of the response was sent.
 */
export type SeenRequest = {
  n: number
  at: number
  responded_at: number | null
  path: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
  /**
   * Whether the body came with the bytes that JSON.stringify gives it: then equal parts of two bodies are
   * equal bytes.
   */
  compact: boolean
  /** Resolves when the connection or the response is closed, by whichever side. */
  closed: Promise<void>
}

/** `custom`: the arguments are a text, as of a custom tool of OpenAI's Responses API. */
export type FakeToolCall = {
  id?: string
  name: string
  arguments: string | Record<string, unknown>
  custom?: true
}

/**
 * A response of a model, in no provider's words; each fake server writes it in its own. Texts are split into
 * pieces of `split` characters (default 7).
 */
export type FakeResponse = {
  reasoning?: string
  text?: string
  tool_calls?: FakeToolCall[]
  /** OpenAI's mark of text that is no answer. */
  phase?: 'commentary' | 'final_answer'
  refusal?: string
  finish?: 'stop' | 'tool_calls' | 'length' | 'content_filter'
  /** null: the server reports no usage. */
  usage?: { input: number; output: number; cached?: number; cache_write?: number } | null
  split?: number
}

/**
 * What a fake server does with one request. `raw` pieces are written after the headers of an event stream;
 * then the response ends, is cut, or stays open.
 */
export type FakeReply =
  | FakeResponse
  | { status: number; headers?: Record<string, string>; body: unknown }
  | {
      raw: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>
      after?: 'end' | 'cut' | 'stall'
    }
  | { stall: 'before_headers' | 'before_body' }

export type FakeScript = (request: SeenRequest, n: number) => FakeReply | Promise<FakeReply>

export type FakeServer = AsyncDisposable & { origin: string; requests: SeenRequest[] }

/**
 * A model server on the loopback. `write` gives the bytes of a FakeAnswer in the protocol of the request. `n`
 * counts requests from 0.
 */
export async function startFakeServer(
  script: FakeScript,
  write: (result: FakeResponse, request: SeenRequest) => Iterable<string>,
): Promise<FakeServer> {
  const requests: SeenRequest[] = []
  const server = createServer(async (incoming, response) => {
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    response.on('close', resolve)
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece)
    const at = performance.now()
    const text = Buffer.concat(pieces).toString('utf8')
    const body = JSON.parse(text || '{}')
    const n = requests.length
    const request: SeenRequest = {
      n,
      at,
      responded_at: null,
      path: incoming.url ?? '',
      headers: incoming.headers,
      body,
      compact: JSON.stringify(body) === text,
      closed,
    }
    requests.push(request)
    await send(await script(request, n), request, response, write)
    request.responded_at = performance.now()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      const ended = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await ended
    },
  }
}

async function send(
  reply: FakeReply,
  request: SeenRequest,
  response: ServerResponse,
  write: (result: FakeResponse, request: SeenRequest) => Iterable<string>,
): Promise<void> {
  if ('stall' in reply && reply.stall === 'before_headers') return
  if ('status' in reply) {
    response.writeHead(reply.status, {
      'content-type': typeof reply.body === 'string' ? 'text/html' : 'application/json',
      ...reply.headers,
    })
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()
  if ('stall' in reply) return
  for await (const piece of 'raw' in reply ? reply.raw : write(reply, request)) {
    if (response.destroyed) return
    if (!response.write(piece))
      await Promise.race([new Promise(resolve => response.once('drain', resolve)), request.closed])
  }
  const after = 'raw' in reply ? (reply.after ?? 'end') : 'end'
  if (after === 'end') response.end()
  if (after === 'cut') response.socket?.destroy()
}

export function splitText(text: string, size = 7): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size))
  return pieces
}

export function argumentText(call: FakeToolCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
}

/** One server-sent event; `event` names it where the protocol does. */
export function sse(data: unknown, event?: string): string {
  return `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}
