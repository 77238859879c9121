import { once } from 'node:events'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { parseJson } from '../core/json/parse-json.ts'
import { Quote } from '../core/secrets/quote.ts'
import { type CallGuard, guardCall } from '../model/call-guard.ts'
import { type CountedTokens, type ModelEndpoint, ModelError } from '../model/port.ts'
import { GatewayRefusal } from './gateway-refusal.ts'
import type { GatewayEnd, GatewayMeter } from './meter.ts'
import { addressOf, bodyFor, errorBody, headersOf, type Operation, wantedOutput } from './operations.ts'
import { safeBody, textBytes } from './safe-body.ts'
import { createUsageReader, type UsageReader } from './usage-reader.ts'

type Json = Record<string, unknown>

/** `timeouts`: of one request to the provider. `onFailure`: what went wrong in the gateway itself. */
export type GatewayOf = {
  endpoint: ModelEndpoint
  meter: GatewayMeter
  timeouts: { first_byte_ms: number; idle_ms: number; total_ms: number }
  onFailure(error: unknown): void
}

/** One request of a program. `signal` is aborted when the program has closed the connection. */
type Call = {
  operation: Exclude<Operation, { kind: 'models' }>
  body: Json
  headers: IncomingHttpHeaders
  response: ServerResponse
  signal: AbortSignal
}

const BYTES_A_TOKEN = 4
const MAX_REFUSAL_CHARACTERS = 16 * 1024
/** Of it, what the trace shows. */
const MAX_REFUSAL_MESSAGE = 500

/**
 * Plans, records and sends one call, and passes its response on as it comes. The outcome is durable before
 * the response ends, so a program cannot act on a whole response that the budget does not know of. Rejects
 * with GatewayRefusal when no call is possible.
 */
export async function forwardCall(of: GatewayOf, call: Call): Promise<void> {
  const { endpoint, meter } = of
  const { operation, body, response } = call
  const stream = operation.kind === 'generate' && (operation.stream ?? body.stream === true)
  const { body: safe, dropped } = safeBody(endpoint.api, body)
  if (dropped.length > 0) await meter.dropped(dropped)
  if (operation.kind === 'count') return countTokens(of, call, safe)
  const { signal } = call
  const max_output_tokens = wantedOutput(endpoint.api, safe)
  const started = await meter.start({
    bytes: textBytes(safe),
    max_output_tokens,
    has_tools: hasTools(body),
    signal,
  })
  if ('refused' in started) throw new GatewayRefusal(403, started.refused)
  const end = await exchange(
    of,
    call,
    bodyFor(endpoint, safe, stream, started.reservation.output_tokens),
    stream,
  )
  await meter.ended(started, end)
  finish(response, end)
}

/** Whether the model may call tools: a program asks for titles and the like without them. */
export const hasTools = ({ tools }: Json): boolean => Array.isArray(tools) && tools.length > 0

/** A response that broke off must not look whole. */
function finish(response: ServerResponse, end: GatewayEnd): void {
  if (end.kind === 'failed' && response.statusCode === 200) response.destroy()
  else response.end()
}

/** Counting costs nothing. */
async function countTokens(of: GatewayOf, call: Call, body: Json): Promise<void> {
  const end = await exchange(
    of,
    call,
    { ...body, ...(call.operation.model === null && { model: of.endpoint.name }) },
    false,
  )
  finish(call.response, end)
}

/** Sends a request and writes its response, all but the end. Never rejects. */
async function exchange(of: GatewayOf, call: Call, body: Json, stream: boolean): Promise<GatewayEnd> {
  const { endpoint, timeouts, meter } = of
  const read = createUsageReader(endpoint.api, stream)
  using guard = guardCall(
    { timeouts, signal: call.signal, on_progress: () => meter.progressed() },
    endpoint.fetch,
  )
  try {
    const address = addressOf(endpoint, call.operation, stream)
    const request = {
      method: 'POST',
      headers: headersOf(endpoint, call.headers),
      body: JSON.stringify(body),
      signal: guard.signal,
    }
    const received = await Promise.race([guard.stopped, guard.fetch(address, request)])
    if (received.status !== 200) return refuse(endpoint, call.response, received, await received.text())
    await pass(received, call.response, read, guard)
    const reported = read.usage()
    const usage = reported ?? estimated(request.body.length, read.bytes)
    return { kind: 'responded', usage, reported: reported !== null }
  } catch {
    const error = guard.failure() ?? new ModelError('unavailable', 'The model cannot be reached.')
    const may_cost = error.code !== 'unavailable' || call.response.headersSent
    if (!call.response.headersSent) respond(endpoint, call.response, may_cost ? 504 : 503, error.message)
    return { kind: 'failed', error, quote: null, may_cost, seen_bytes: read.bytes }
  }
}

async function pass(
  received: Response,
  response: ServerResponse,
  read: UsageReader,
  guard: CallGuard,
): Promise<void> {
  response.writeHead(200, { 'content-type': received.headers.get('content-type') ?? 'application/json' })
  const reader = received.body?.getReader()
  while (reader !== undefined) {
    const { done, value } = await Promise.race([guard.stopped, reader.read()])
    if (done) return
    read.add(value)
    if (!response.write(value)) await Promise.race([guard.stopped, once(response, 'drain')])
  }
}

/** Some servers report no usage; events carry several times the bytes of their text. */
const estimated = (sent_bytes: number, received_bytes: number): CountedTokens => ({
  input_tokens: Math.ceil(sent_bytes / BYTES_A_TOKEN),
  output_tokens: Math.ceil(received_bytes / BYTES_A_TOKEN),
  cached_tokens: 0,
  cache_write_tokens: 0,
})

/** Passes on why the provider refused, without the key that some of them repeat. */
function refuse(
  endpoint: ModelEndpoint,
  response: ServerResponse,
  { status, headers }: Response,
  text: string,
): GatewayEnd {
  const known = endpoint.api_key === null ? text : text.replaceAll(endpoint.api_key, '[key]')
  const message = known.slice(0, MAX_REFUSAL_CHARACTERS)
  const retry_after = headers.get('retry-after')
  if (retry_after !== null) response.setHeader('retry-after', retry_after)
  // A redirect would carry the key to another host.
  respond(endpoint, response, status >= 400 ? status : 502, message)
  const error = new ModelError(codeOf(status), `The provider responded with ${status}.`, {
    http_status: status,
  })
  return {
    kind: 'failed',
    error,
    quote: new Quote(known, MAX_REFUSAL_MESSAGE),
    may_cost: false,
    seen_bytes: 0,
  }
}

function codeOf(status: number) {
  if (status === 401 || status === 403) return 'auth'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'unavailable' : 'rejected'
}

function respond({ api }: ModelEndpoint, response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.write(isJson(message) ? message : JSON.stringify(errorBody(api, status, message)))
}

const isJson = (text: string): boolean => typeof parseJson('model_error', text) === 'object'
