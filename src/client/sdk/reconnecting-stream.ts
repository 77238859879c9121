import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { storedJson } from '../../core/json/stored-json.ts'
import { pause } from '../../core/pause.ts'
import { withTimeout } from '../../core/timeout.ts'
import { AgentRunError } from './error.ts'
import { backOff } from './waiting.ts'

/**
 * One server-sent event. `seq` is its position in the stream; null for an ephemeral event, which is not
 * stored.
 */
type StreamEvent = { seq: number | null; event: string; data: unknown }

/** `error` is null when the service or a proxy closed the stream. */
export type ConnectionState =
  | { name: 'connecting' }
  | { name: 'live' }
  | { name: 'reconnecting'; attempt: number; error: unknown }

/** How a stream keeps its connection. The defaults suit a program; the web page sets all three. */
export type Connection = {
  /**
   * Retries without limit, from the first connection on, until the service refuses with a 4xx status that no
   * retry can fix.
   */
  persistent?: boolean
  on_state?: (state: ConnectionState) => void
  /** Waits before a reconnection. May resolve earlier than after `ms`; rejects when `signal` is aborted. */
  wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

export type StreamOptions = Connection & {
  /** Opens the stream behind `after`, null for where the service begins. */
  open(after: number | null): Promise<Response>
  after: number | null
  /** Numbers follow each other without a gap, so that a missing one is a fault of the connection. */
  dense: boolean
  signal: AbortSignal | undefined
  /** The service sends something every 10 s: a stream that is silent for longer is closed and resumed. */
  silence_ms?: number
  /**
   * How many connections in a row may fail after the first one succeeded. A persistent stream has no such
   * limit.
   */
  reconnects?: number
}

/**
 * Yields the events of a stream, for as long as the caller reads on: however a connection ends, the next one
 * resumes behind the last number seen, and each number comes once and in order. Rejects when the stream is
 * refused, when it cannot be reached again, with code `stream_blocked` when it opens but brings nothing (a
 * proxy holds it back), or with the signal's reason.
 */
export async function* streamEvents(options: StreamOptions): AsyncGenerator<StreamEvent> {
  const { signal, dense, silence_ms = 25_000, wait = pause, on_state } = options
  let last = options.after
  let failures = 0
  let opened = false
  const alive = () => {
    failures = 0
  }
  on_state?.({ name: 'connecting' })
  for (;;) {
    let failure: unknown = null
    try {
      const response = await options.open(last)
      opened = true
      on_state?.({ name: 'live' })
      for await (const message of messages(response, silence_ms, alive)) {
        const seq = message.id ? Number(message.id) : null
        if (seq !== null) {
          if (last !== null && seq <= last) continue
          if (dense && last !== null && seq !== last + 1) break
          last = seq
        }
        yield { seq, event: message.event ?? 'message', data: dataOf(message) }
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (!canRetry(error, options, { opened, failures })) throw error
      failure = error
    }
    failures++
    on_state?.({ name: 'reconnecting', attempt: failures, error: failure })
    await wait(Math.max(requestedWait(failure), backOff(failures, Math.random())), signal)
  }
}

/**
 * Whether a later connection can succeed. A program learns at once of a wrong address or a refusal, so its
 * first connection is final; `open` has retried several times by then. A persistent stream ends only with a
 * refusal that does not depend on time.
 */
function canRetry(
  error: unknown,
  { persistent, reconnects = 20 }: StreamOptions,
  so_far: { opened: boolean; failures: number },
): boolean {
  if (persistent) return !(error instanceof AgentRunError) || !isFinalRefusal(error)
  if (!so_far.opened || so_far.failures >= reconnects) return false
  return (
    !(error instanceof AgentRunError) ||
    (error.code !== 'stream_blocked' && [0, 429, 502, 503, 504].includes(error.status))
  )
}

const isFinalRefusal = ({ status }: AgentRunError) =>
  status >= 400 && status < 500 && status !== 408 && status !== 429

const requestedWait = (error: unknown) => (error instanceof AgentRunError ? (error.retry_after_ms ?? 0) : 0)

function dataOf({ data }: EventSourceMessage): unknown {
  try {
    return storedJson<unknown>(data)
  } catch (cause) {
    throw new AgentRunError({
      status: 200,
      code: 'unexpected',
      detail: 'An event of the stream is not JSON: is it the service?',
      cause,
    })
  }
}

/**
 * The messages of one connection, `alive` at each of them and at each heartbeat. Ends when it is cut or
 * silent; leaving it closes it.
 */
async function* messages(
  response: Response,
  silence_ms: number,
  alive: () => void,
): AsyncGenerator<EventSourceMessage> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null)
    throw new AgentRunError({
      status: response.status,
      code: 'unexpected',
      detail: `The response of ${response.url} is not an event stream.`,
    })
  const ready: EventSourceMessage[] = []
  const parser = createParser({
    onComment: alive,
    onEvent(message) {
      alive()
      ready.push(message)
    },
  })
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  let received = false
  try {
    for (;;) {
      const chunk = await withTimeout(reader.read(), silence_ms, () => 'silent' as const)
      if (chunk === 'silent' && !received) throw blocked(response.url)
      if (chunk === 'silent' || chunk.done) return
      received = true
      parser.feed(decoder.decode(chunk.value, { stream: true }))
      yield* ready.splice(0)
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}

const blocked = (url: string) =>
  new AgentRunError({
    status: 0,
    code: 'stream_blocked',
    detail: `The stream at ${url} opens but sends nothing: a proxy may buffer it.`,
  })
