import {
  type CallToolResult,
  Client,
  type ClientOptions,
  type JsonSchemaValidatorResult,
  type Transport,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client'
import { orAborted } from '../core/abort.ts'
import { deadline } from '../core/deadline.ts'
import { messageWithQuote, type Redact } from '../core/secrets/quote.ts'
import { settledWithin } from '../core/timeout.ts'
import type { ServerTool } from './listed-tools.ts'
import { McpError } from './mcp-error.ts'
import { asMcpError, timedOut } from './request-failure.ts'
import type { ServerTraffic } from './server-traffic.ts'

const CLOSE_TIMEOUT_MS = 2_000
const MAX_PAGES = 20
const MAX_LISTED = 1_000

type Limits = { timeout_ms: number; signal: AbortSignal }
/** `redact`: removes the secrets of the run from what messages of errors quote. */
type OpenOptions = Limits & { redact: Redact }

/** An MCP server whose tools are known. Disposing ends the connection, and a program with it. */
export type McpConnection = AsyncDisposable & {
  /** The revision of the protocol that both speak. */
  readonly revision: string
  /** Returns the listed tools, which may be large, and keeps them no longer: the next call returns none. */
  takeTools(): ServerTool[]
  /** Whether the server has changed its tools since. */
  hasChanged(): boolean
  /** Whether the connection has ended. */
  hasEnded(): boolean
  /** Calls a tool once. Rejects with McpError, or with the reason of `signal`. */
  call(tool: string, input: Record<string, unknown>, limits: Limits): Promise<CallToolResult>
}

/**
 * `traffic`: bounds what `transport` receives. `over`: why a connection ends that the service did not end;
 * null: it has no such reason. `mode`: which revisions are tried. `endSession`: reports to the server that
 * its session is over. `redacted`: removes the secrets of the connection itself from all that the server
 * sends.
 */
type Link = {
  transport: Transport
  traffic: ServerTraffic
  over: Promise<Error> | null
  mode: VersionNegotiationOptions['mode']
  endSession?: () => Promise<void>
  redacted?: <T>(value: T) => Promise<T>
}

/**
 * Results are shown to the model, which needs no proof that they match. Validation would execute the regular
 * expressions of the server's own schema on the event loop, against a text of its own.
 */
const NO_VALIDATION: ClientOptions['jsonSchemaValidator'] = {
  getValidator<T>() {
    return (data: unknown): JsonSchemaValidatorResult<T> => ({
      valid: true,
      data: data as T,
      errorMessage: undefined,
    })
  },
}

/**
 * Connects to a server and lists its tools. Rejects with McpError, or with the reason of `signal`; then
 * nothing of the connection is left.
 */
export async function connectServer(
  link: Link,
  { timeout_ms, signal, redact }: OpenOptions,
): Promise<McpConnection> {
  const { transport, traffic, over, mode, endSession, redacted = async value => value } = link
  using limit = deadline(timeout_ms, signal)
  let changed = false
  let ended = false
  const onChanged = () => {
    changed = true
  }
  const client = new Client(
    { name: 'agentrun', version: '1' },
    {
      capabilities: {},
      ...(mode !== undefined && { versionNegotiation: { mode } }),
      inputRequired: { autoFulfill: false },
      jsonSchemaValidator: NO_VALIDATION,
      listMaxPages: MAX_PAGES,
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
    },
  )
  client.onclose = () => {
    ended = true
  }
  // What a server sends other than responses to requests is of no interest.
  client.onerror = () => {}
  const close = async () => {
    if (endSession)
      await settledWithin(
        endSession().catch(() => {}),
        CLOSE_TIMEOUT_MS,
      )
    await settledWithin(
      client.close().catch(() => {}),
      CLOSE_TIMEOUT_MS,
    )
    await settledWithin(
      transport.close().catch(() => {}),
      CLOSE_TIMEOUT_MS,
    )
  }
  const redactAll: Redact = async text => redact(await redacted(text))
  const reasonOf = async (error: unknown, ms: number): Promise<Error> =>
    traffic.signal.aborted
      ? traffic.signal.reason
      : ((await reasonOfEnd(ended ? over : null, redactAll)) ?? asMcpError(error, ms, redactAll))
  const bounds = { signal: limit.signal, timeout: timeout_ms }
  try {
    await orAborted(client.connect(transport, bounds), limit.signal)
    let tools = await orAborted(listTools(client, bounds).then(redacted), limit.signal)
    traffic.startCall()
    return {
      revision: client.getNegotiatedProtocolVersion() ?? 'unknown',
      takeTools() {
        const taken = tools
        tools = []
        return taken
      },
      hasChanged: () => changed,
      hasEnded: () => ended,
      async call(tool, input, { timeout_ms: call_ms, signal: call_signal }) {
        traffic.startCall()
        const calling = client.callTool(
          { name: tool, arguments: input },
          { signal: call_signal, timeout: call_ms, maxTotalTimeout: call_ms },
        )
        return orAborted(calling.then(redacted), call_signal).catch(async error => {
          throw call_signal.aborted ? call_signal.reason : await reasonOf(error, call_ms)
        })
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    const reason = limit.passed ? timedOut(timeout_ms) : await reasonOf(error, timeout_ms)
    await close()
    throw signal.aborted ? signal.reason : reason
  }
}

/** Returns why a program has ended, which is a better reason than the closed connection; null: unknown. */
async function reasonOfEnd(over: Promise<Error> | null, redact: Redact): Promise<Error | null> {
  if (over === null || !(await settledWithin(over, CLOSE_TIMEOUT_MS))) return null
  const reason = await over
  return reason.name === 'SandboxLostError'
    ? reason
    : new McpError('failed', await messageWithQuote(reason, redact))
}

async function listTools(
  client: Client,
  bounds: { signal: AbortSignal; timeout: number },
): Promise<ServerTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const tools: ServerTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_LISTED; page++) {
    // Not `listTools`: it keeps what it lists to check results by schemas of the server.
    const listed = await client.request(
      { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
      bounds,
    )
    tools.push(...listed.tools)
    if (listed.nextCursor === undefined || listed.nextCursor === cursor) break
    cursor = listed.nextCursor
  }
  return tools
}
