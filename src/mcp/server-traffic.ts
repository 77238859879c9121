import { checkedResult } from './checked-result.ts'
import { McpError } from './mcp-error.ts'

/** Bytes until the tools of a server are known: they are parsed, checked and walked on the event loop. */
const MAX_OPENING_BYTES = 1024 ** 2
/** Messages of a server during one call, and those of them that are requests. */
const MAX_MESSAGES = 10_000
const MAX_REQUESTS = 1_000
/** Responses that the server has not taken yet: each is in memory until then. */
const MAX_PENDING_RESPONSES = 8
/** Characters of the id of a request, which its response repeats. */
const MAX_ID_CHARS = 256

type Response = { jsonrpc: '2.0'; id: string | number } & (
  | { result: Record<string, unknown> }
  | { error: { code: number; message: string } }
)

/**
 * Bounds what a server sends. `signal`: aborted with the McpError that ends the connection when it sends too
 * much.
 */
export type ServerTraffic = {
  readonly signal: AbortSignal
  /** Counts bytes before they are parsed. Throws McpError when there are too many. */
  addBytes(bytes: number): void
  /**
   * Counts a message, and returns what the client needs of it. A request is responded to here, because the
   * client queues responses without bound: the promise resolves when `respond` has. Throws McpError when
   * there are too many.
   */
  receive<T extends object>(message: T, respond: (response: Response) => Promise<void>): T | Promise<void>
  /** Ends the connection, because the server `problem`. Throws McpError. */
  end(problem: string): never
  /** The tools are known, or a call starts: messages are counted from zero. */
  startCall(): void
}

export function createServerTraffic(): ServerTraffic {
  const control = new AbortController()
  let max_bytes = MAX_OPENING_BYTES
  let bytes = 0
  let messages = 0
  let requests = 0
  let pending = 0
  const check = (passed: boolean, problem: string) => {
    if (!passed) control.abort(new McpError('failed', `It ${problem}.`))
    control.signal.throwIfAborted()
  }
  const checkId = (id: unknown): Response['id'] => {
    const text = String(typeof id === 'number' || typeof id === 'string' ? id : '')
    check(
      text !== '' && text.length <= MAX_ID_CHARS,
      `sent a request without an id of at most ${MAX_ID_CHARS} characters`,
    )
    return typeof id === 'number' ? id : text
  }
  const respondTo = async (
    id: Response['id'],
    method: unknown,
    respond: (response: Response) => Promise<void>,
  ) => {
    pending++
    // A response that cannot be sent is of no interest; the end of the connection is reported otherwise.
    await respond(responseTo(id, method)).catch(() => {})
    pending--
  }
  return {
    signal: control.signal,
    addBytes(count) {
      bytes += count
      check(bytes <= max_bytes, `sent more than ${max_bytes} bytes before its tools were known`)
    },
    receive(message, respond) {
      check(++messages <= MAX_MESSAGES, `sent more than ${MAX_MESSAGES} messages during one call`)
      if ('result' in message) return { ...message, result: checkedResult(message.result) }
      if (!('method' in message && 'id' in message)) return message
      check(++requests <= MAX_REQUESTS, `sent more than ${MAX_REQUESTS} requests during one call`)
      check(pending < MAX_PENDING_RESPONSES, 'sends requests and takes no responses')
      return respondTo(checkId(message.id), message.method, respond)
    },
    end(problem) {
      const error = new McpError('failed', `It ${problem}.`)
      control.abort(error)
      throw error
    },
    startCall() {
      max_bytes = Number.POSITIVE_INFINITY
      messages = 0
      requests = 0
    },
  }
}

/** The service offers a server nothing, so that it responds to `ping` alone. */
function responseTo(id: Response['id'], method: unknown): Response {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} }
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
}
