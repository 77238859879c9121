import { pause } from '../../core/pause.ts'
import { withTimeout } from '../../core/timeout.ts'
import { AgentRunError, refusal } from './error.ts'
import { backOff, retryAfter } from './waiting.ts'

export type Transport = {
  fetch: typeof fetch
  /** How often a request is retried. */
  retries: number
  /** For one attempt; of a stream, until it begins. */
  timeout_ms: number
  /** A longer wait that the service requests is an error at once. */
  longest_wait_ms: number
  /** Called before each wait. */
  on_wait: ((error: AgentRunError, wait_ms: number) => void) | undefined
}

export type Outgoing = {
  method: string
  url: string
  headers: Record<string, string>
  body: string | null
  signal: AbortSignal | undefined
  /**
   * Whether the request may arrive twice: it changes nothing, or the service knows it by its idempotency key.
   */
  repeatable: boolean
}

/**
 * Sends a request and reads its response, again while that can help: after 429 always, because nothing was
 * done; after a cut connection, a time-out, 502, 503 and 504 when it may arrive twice. Rejects with
 * AgentRunError, or with the signal's reason.
 */
export async function send<T>(
  transport: Transport,
  request: Outgoing,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt(transport, request, read)
    } catch (error) {
      const wait =
        error instanceof AgentRunError && failures <= transport.retries
          ? waitAfter(error, request, failures)
          : null
      if (wait === null || wait > transport.longest_wait_ms) throw error
      transport.on_wait?.(error as AgentRunError, wait)
      await pause(wait, request.signal)
    }
  }
}

/**
 * Milliseconds to wait before the next attempt; null when there is none. A 409 with a time: the first
 * attempt is still running.
 */
function waitAfter(
  { status, retry_after_ms }: AgentRunError,
  request: Outgoing,
  failures: number,
): number | null {
  const passing = [0, 502, 503, 504].includes(status) || (status === 409 && retry_after_ms !== null)
  if (status !== 429 && !(passing && request.repeatable)) return null
  return retry_after_ms ?? backOff(failures, Math.random())
}

async function attempt<T>(
  transport: Transport,
  request: Outgoing,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const signal = request.signal ? AbortSignal.any([request.signal, late.signal]) : late.signal
  return withTimeout(exchange(transport, { ...request, signal }, read), transport.timeout_ms, () => {
    late.abort()
    throw unreached(request.url, 'timeout', `no response within ${transport.timeout_ms / 1000} s`)
  })
}

async function exchange<T>(
  { fetch }: Transport,
  { url, method, headers, body, signal }: Outgoing,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  try {
    // The service never redirects, and a token must not be sent to another address.
    const response = await fetch(url, {
      method,
      headers,
      body,
      ...(signal && { signal }),
      redirect: 'manual',
    })
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400))
      throw redirected(url, response)
    if (!response.ok)
      throw await refusal(response, retryAfter(response.headers.get('retry-after'), Date.now()))
    return await read(response)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw error instanceof AgentRunError ? error : unreached(url, 'unreachable', reasonOf(error), error)
  }
}

const unreached = (url: string, code: 'timeout' | 'unreachable', reason: string, cause?: unknown) =>
  new AgentRunError({ status: 0, code, detail: `${originOf(url)} cannot be reached: ${reason}`, cause })

function redirected(url: string, response: Response): AgentRunError {
  const to = response.headers.get('location')
  const detail = `${originOf(url)} redirects${to === null ? '' : ` to ${to}`}: give the service's own address`
  return new AgentRunError({ status: response.status, code: 'unexpected', detail })
}

/** A relative address is one of the page that calls, which needs no name. */
const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : 'The service')

/** Node reports "fetch failed" and keeps the reason in `cause`, several when it tried several addresses. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause instanceof AggregateError ? error.cause.errors[0] : error.cause
  return inner instanceof Error && inner.message !== '' ? inner.message : error.message
}
