import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { createSemaphore, type Semaphore } from '../core/concurrency/semaphore.ts'
import { json_channels } from '../core/json/channels.ts'
import { readLargeJson } from '../core/json/parse-json.ts'
import { type ModelEndpoint, ModelError } from '../model/port.ts'
import { forwardCall, type GatewayOf, hasTools } from './forward-call.ts'
import { GatewayRefusal } from './gateway-refusal.ts'
import { errorBody, type Operation, operationAt } from './operations.ts'
import { passToolRequest, type ToolServers, toolServerAt } from './tool-request.ts'

type Json = Record<string, unknown>

const MAX_BODY_BYTES = json_channels.gateway_request.bytes
const MAX_CONNECTIONS = 64
/**
 * Requests that are sent to the provider at the same time: agents call the model for sub-agents and titles
 * beside their own steps.
 */
const MAX_PARALLEL = 8
/** Requests of a program that wait or are sent, and their bytes together: they are in memory. */
const MAX_PENDING = 32
const MAX_PENDING_BYTES = 64 * 1024 * 1024
const HEADERS_TIMEOUT_MS = 10_000

/**
 * `disconnect`: closes all connections, and resolves when the outcomes of their requests are recorded.
 * `close`: accepts no others either.
 */
type ModelGateway = { server: Server; disconnect(): Promise<void>; close(): void }

/**
 * Creates the model gateway of one run: programs in its sandbox send their requests to the model of the run
 * here, without a key, in the wire format of its provider. The gateway adds the key outside of the sandbox,
 * plans and records each call before it is sent, and counts its tokens. The server does not listen yet.
 * `tools`: the MCP servers of the run, at `/mcp/<server>`.
 */
export function createModelGateway(of: GatewayOf & { tools: ToolServers }): ModelGateway {
  const connections = new Set<Socket>()
  const pending: Pending = { requests: 0, bytes: 0 }
  const semaphore = createSemaphore(MAX_PARALLEL)
  const responding = new Set<Promise<void>>()
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 60_000 },
    (request, response) => {
      const one = respond({ ...of, pending, semaphore }, request, response).catch(error =>
        fail(of, response, error),
      )
      responding.add(one)
      void one.finally(() => responding.delete(one))
    },
  )
  server.maxConnections = MAX_CONNECTIONS
  server.on('connection', socket => {
    connections.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => connections.delete(socket))
  })
  const closeConnections = () => {
    for (const socket of connections) socket.destroy()
  }
  return {
    server,
    async disconnect() {
      closeConnections()
      await Promise.all(responding)
    },
    close() {
      server.close()
      closeConnections()
    },
  }
}

type Pending = { requests: number; bytes: number }
type GatewayContext = GatewayOf & { tools: ToolServers; pending: Pending; semaphore: Semaphore }

async function respond(
  of: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pending, meter } = of
  const refused = meter.refusal()
  if (refused !== null) throw new GatewayRefusal(403, refused)
  if (pending.requests >= MAX_PENDING)
    throw new GatewayRefusal(429, `This program has ${MAX_PENDING} requests waiting already.`)
  pending.requests++
  const held = { own: 0 }
  try {
    await serve(of, request, response, held)
  } finally {
    pending.requests--
    pending.bytes -= held.own
  }
}

async function serve(
  of: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
  held: { own: number },
): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?')
  const tool_server = toolServerAt(path)
  if (tool_server !== null) return passToolRequest(of.tools, tool_server, request, response)
  const operation = operationAt(request.method ?? '', path)
  if (operation === null)
    throw new GatewayRefusal(404, `This gateway has no ${request.method} ${path.slice(0, 200)}.`)
  if (operation.kind === 'models') return sendJson(response, 200, modelsOf(of.endpoint))
  const call: Call = { operation, has_tools: false }
  await serveCall(of, call, { request, response, held }).catch(error => {
    // A program may report a refused call as its answer, so the turn must learn of it. One that a stop or a
    // limit refuses ends anyway.
    const counts = error instanceof GatewayRefusal && error.status !== 403 && operation.kind === 'generate'
    if (counts) of.meter.refused(new ModelError('rejected', error.message), call.has_tools)
    throw error
  })
}

/** `has_tools`: known once the body was read. */
type Call = { operation: Exclude<Operation, { kind: 'models' }>; has_tools: boolean }
type Exchange = { request: IncomingMessage; response: ServerResponse; held: { own: number } }

async function serveCall(
  of: GatewayContext,
  call: Call,
  { request, response, held }: Exchange,
): Promise<void> {
  const { endpoint, pending, semaphore } = of
  const { operation } = call
  if (operation.api !== endpoint.api)
    throw new GatewayRefusal(
      404,
      `The model of this run is called by ${endpoint.api}, not by ${operation.api}.`,
    )
  // What cannot be paid for is not read.
  const limit = operation.kind === 'generate' ? of.meter.reachedLimit() : null
  if (limit !== null) throw new GatewayRefusal(403, limit)
  const body = await readBody(request, bytes => {
    held.own += bytes
    pending.bytes += bytes
    return pending.bytes <= MAX_PENDING_BYTES
  })
  call.has_tools = hasTools(body)
  requireModel(endpoint, operation, body)
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const leave = await semaphore.enter(gone.signal)
  if (leave === null) return
  await forwardCall(of, { operation, body, headers: request.headers, response, signal: gone.signal }).finally(
    leave,
  )
}

/** A program may call the model of its run only. */
function requireModel({ name }: ModelEndpoint, operation: Call['operation'], body: Json): void {
  const wanted = operation.model ?? body.model
  if (wanted !== name) throw new GatewayRefusal(404, `The model of this run is ${name}, and no other.`)
}

/** `hold` counts the bytes that are in memory, and returns false when they are too many. */
async function readBody(request: IncomingMessage, hold: (bytes: number) => boolean): Promise<Json> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES)
      throw new GatewayRefusal(413, `A request to the model has at most ${MAX_BODY_BYTES} bytes.`)
    if (!hold(chunk.length))
      throw new GatewayRefusal(429, 'The requests of this program that wait are too large together.')
    chunks.push(chunk)
  }
  const { value: body, problem } = await readLargeJson('gateway_request', Buffer.concat(chunks))
  if (problem !== undefined && problem.limit !== null)
    throw new GatewayRefusal(413, `The body ${problem.message}.`)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new GatewayRefusal(400, 'The body is not a JSON object.')
  return body as Json
}

/** The list of models in the shape that OpenAI and Anthropic share. */
const modelsOf = ({ name }: ModelEndpoint): Json => ({
  object: 'list',
  data: [{ id: name, object: 'model', type: 'model', display_name: name, created: 0, owned_by: 'agentrun' }],
  has_more: false,
})

function sendJson(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function fail({ endpoint, onFailure }: GatewayOf, response: ServerResponse, error: unknown): void {
  const refused = error instanceof GatewayRefusal
  if (!refused) onFailure(error)
  if (response.headersSent || response.destroyed) return void response.destroy()
  const status = refused ? error.status : 503
  response.setHeader('connection', 'close')
  sendJson(
    response,
    status,
    errorBody(
      endpoint.api,
      status,
      refused ? error.message : 'The call could not be recorded; repeat it later.',
    ),
  )
}
