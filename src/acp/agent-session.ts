import type { Writable } from 'node:stream'
import {
  type AnyMessage,
  type ClientConnection,
  client,
  methods,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk'
import { isKilled } from '../core/concurrency/killed.ts'
import { messageWithQuote, Quote, QuotingError, type Redact } from '../core/secrets/quote.ts'
import { settledWithin } from '../core/timeout.ts'
import { type ExecResult, type Sandbox, SandboxLostError } from '../sandbox/port.ts'
import {
  AgentProtocolError,
  createMessageSplitter,
  describedEnd,
  MAX_SHOWN_CHARACTERS,
  type Message,
} from './messages.ts'
import { type PermissionDecision, permissionResponse, readPermissionRequest } from './permission.ts'
import { readInitialized, requireText } from './responses.ts'

const START_TIMEOUT_MS = 60_000
/** To continue an earlier session, before the conversation is repeated to a new one instead. */
const CONTINUE_TIMEOUT_MS = 30_000
const END_TIMEOUT_MS = 2_000
const MAX_ERROR_OUTPUT_BYTES = 64 * 1024
/** Requests of the agent without a response: each is in memory until the agent reads its input. */
const MAX_PENDING_REQUESTS = 32

/** The agent ended, failed or broke the protocol; the message is for people. */
export class AgentError extends QuotingError {
  override name = 'AgentError'
}

/** A signal from outside ended the agent. */
export class AgentKilledError extends AgentError {
  override name = 'AgentKilledError'
}

/** The agent could not continue an earlier session; the message states why. */
class ContinueError extends AgentError {
  override name = 'ContinueError'
}

export type PromptPart = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

/** A session with an agent that runs in a sandbox. Disposing ends the process and what it started. */
export type AgentSession = AsyncDisposable & {
  readonly id: string
  /** Whether it is the earlier session that was named, with what that contains. */
  readonly continued: boolean
  /** Whether a later process can continue it, as the agent reports. */
  readonly resumable: boolean
  /** Whether the agent accepts MCP servers by HTTP. */
  readonly accepts_servers: boolean
  /** Why the earlier session could not be continued; null: it was, or the agent offers no way. */
  readonly problem: string | null
  /** The name and version that the agent reports. */
  readonly agent: string
  /** Whether a prompt may contain images. */
  readonly images: boolean
  /**
   * Sends a prompt and resolves with the reason why its turn stopped, after its last update. Rejects with
   * AgentError, or SandboxLostError.
   */
  prompt(parts: PromptPart[]): Promise<string>
  /** Requests the end of the current prompt, which then stops as `cancelled`. */
  cancel(): void
}

/**
 * `signal` ends the process. `on_update` receives the updates of the session as the agent sent them; nothing
 * more is read while its promise is pending. `on_permission` decides about a tool call, given as in an
 * update.
 */
type Program = {
  sandbox: Sandbox
  /** MCP servers of the session, by HTTP; it has none if the agent does not accept that. */
  servers: readonly { name: string; url: string }[]
  command: string
  signal: AbortSignal
  on_update(update: Message): Promise<void> | void
  on_permission(call: Message): Promise<PermissionDecision>
  /** Removes secrets from what messages of errors quote. */
  redact: Redact
}

/**
 * Starts a program that speaks the Agent Client Protocol, version 1, over its standard streams, and opens a
 * session in /workspace. Rejects with AgentError when it does not respond within a minute, ends, or breaks
 * the protocol. `earlier`: the id of a session of an earlier process, which is continued if the agent offers
 * that; if it then fails, another process opens a new session.
 */
export async function openAgentSession(program: Program, earlier: string | null): Promise<AgentSession> {
  try {
    return await startProgram(program, earlier)
  } catch (error) {
    if (!(error instanceof ContinueError)) throw error
    return { ...(await startProgram(program, null)), problem: error.message }
  }
}

async function startProgram(program: Program, earlier: string | null): Promise<AgentSession> {
  const kill = new AbortController()
  const { connection, over } = connect(program, AbortSignal.any([kill.signal, program.signal]))
  const close = async () => {
    connection.close()
    kill.abort()
    await over
  }
  const send = <T>(request: Promise<T>, timeout_ms?: number) =>
    settled(request, { over, redact: program.redact }, timeout_ms)
  try {
    const { agent } = connection
    const clientInfo = { name: 'agentrun', version: '1' }
    const initializing = agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
      clientInfo,
    })
    const {
      continue_method: method,
      accepts_servers,
      ...offered
    } = await send(initializing.then(readInitialized), START_TIMEOUT_MS)
    const settings = { cwd: '/workspace', mcpServers: accepts_servers ? program.servers.map(httpServer) : [] }
    const continues = earlier !== null && method !== null
    const opening = continues
      ? agent.request(method, { sessionId: earlier, ...settings }).then(() => earlier)
      : agent.request(new_session, settings).then(response => requireText(new_session, response, 'sessionId'))
    const sessionId = await send(opening, continues ? CONTINUE_TIMEOUT_MS : START_TIMEOUT_MS).catch(error => {
      throw continues && error instanceof AgentError ? new ContinueError(error.message) : error
    })
    return {
      id: sessionId,
      continued: continues,
      resumable: method !== null,
      accepts_servers,
      problem: null,
      ...offered,
      async prompt(parts) {
        const { prompt } = methods.agent.session
        return send(
          agent
            .request(prompt, { sessionId, prompt: parts })
            .then(response => requireText(prompt, response, 'stopReason')),
        )
      },
      cancel: () => void connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {}),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const new_session = methods.agent.session.new
const httpServer = (server: Program['servers'][number]) => ({ type: 'http' as const, ...server, headers: [] })

/** `over` resolves, when the process has ended, with why; it never rejects. */
type AgentConnection = { connection: ClientConnection; over: Promise<Error> }

function connect(
  { sandbox, command, on_update, on_permission }: Program,
  signal: AbortSignal,
): AgentConnection {
  const sent = new Set<unknown>()
  let loading: unknown = null
  let pending_requests = 0
  let incoming: ReadableStreamDefaultController<AnyMessage> | undefined
  const splitter = createMessageSplitter('agent_message', message => {
    // Until it responds, an agent repeats what the loaded session contains: the trace has that.
    if (message.method === methods.client.session.update)
      return loading === null ? on_update(updateOf(message)) : undefined
    if (!('method' in message) && message.id === loading) loading = null
    // The SDK prints what it cannot match, and nobody here reads other notifications.
    const isRequest = 'method' in message && 'id' in message
    if (isRequest && ++pending_requests > MAX_PENDING_REQUESTS)
      throw new AgentProtocolError('It sends requests and reads no responses.')
    if (isRequest || (!('method' in message) && sent.delete(message.id)))
      incoming?.enqueue(message as AnyMessage)
  })
  const process = sandbox.openProcess({
    // Nothing of it changes files while they are committed.
    command,
    signal,
    kills_descendants: true,
    max_output_bytes: MAX_ERROR_OUTPUT_BYTES,
    on_stdout: chunk => splitter.add(chunk),
  })
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      incoming = controller
    },
  })
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if ('method' in message && 'id' in message) sent.add(message.id)
      if ('id' in message && 'method' in message && message.method === methods.agent.session.load)
        loading = message.id
      return writeLine(process.stdin, JSON.stringify(message)).then(() => {
        if (!('method' in message)) pending_requests--
      })
    },
  })
  const connection = client({ name: 'agentrun' })
    .onRequest(methods.client.session.requestPermission, readPermissionRequest, async ({ params }) => {
      const decision = await on_permission(params.call)
      return permissionResponse(params.options, decision)
    })
    .connect({ readable, writable })
  const over = process.ended.then(errorOfEnd, (error: Error) => error)
  void over.then(() => connection.close())
  return { connection, over }
}

const writeLine = (stdin: Writable, line: string) =>
  new Promise<void>((resolve, reject) =>
    stdin.write(`${line}\n`, error => (error ? reject(error) : resolve())),
  )

function updateOf({ params }: Message): Message {
  const update = typeof params === 'object' && params !== null && 'update' in params ? params.update : null
  return typeof update === 'object' && update !== null ? (update as Message) : {}
}

/**
 * Waits for a response. The end of the process is the better reason for a failure than the closed connection.
 */
async function settled<T>(
  request: Promise<T>,
  { over, redact }: { over: Promise<Error>; redact: Redact },
  timeout_ms?: number,
): Promise<T> {
  const result = request.then(
    value => ({ value }),
    (error: unknown) => ({ error }),
  )
  const ended = over.then(error => ({ error }))
  const first = Promise.race([result, ended])
  if (timeout_ms !== undefined && !(await settledWithin(first, timeout_ms)))
    throw new AgentError(`It did not respond within ${timeout_ms / 1_000} s.`)
  const outcome = await first
  if ('value' in outcome) return outcome.value
  const { error } = outcome
  if (error instanceof RequestError) throw await asAgentError(reportedBy(error), redact)
  if (error instanceof QuotingError || error instanceof SandboxLostError)
    throw await asAgentError(error, redact)
  // The connection is closed because the process has ended, or is about to.
  if (await settledWithin(over, END_TIMEOUT_MS)) throw await asAgentError(await over, redact)
  throw new AgentError('It closed the connection.')
}

/** Returns the error for people, with what it quotes. */
async function asAgentError(error: Error, redact: Redact): Promise<Error> {
  if (error instanceof ContinueError || !(error instanceof QuotingError)) return error
  const message = await messageWithQuote(error, redact)
  return error instanceof AgentKilledError ? new AgentKilledError(message) : new AgentError(message)
}

function reportedBy({ message, data }: RequestError): AgentError {
  const details = data === undefined || data === '' ? '' : ` ${JSON.stringify(data)}`
  return new AgentError('It reported an error:', new Quote(`${message}${details}`, MAX_SHOWN_CHARACTERS))
}

function errorOfEnd(result: ExecResult): Error {
  const killed = result.status === 'exited' && isKilled({ code: result.exit_code })
  return killed ? new AgentKilledError(...describedEnd(result)) : new AgentError(...describedEnd(result))
}
