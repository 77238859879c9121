import { ForgeError } from './port.ts'
import { shown } from './texts.ts'

/** Seconds to wait after a rate limit without `Retry-After`. */
const DEFAULT_WAIT = 60

type Headers = Record<string, string | number | undefined>
type FailedResponse = { status: number; headers: Headers; text: string }

/**
 * Returns a response that is not a success as an error of the port. `now_ms` is compared with the time at
 * which a rate limit ends.
 */
export function responseFailure(
  forge: string,
  { status, headers, text }: FailedResponse,
  now_ms = Date.now(),
): ForgeError {
  const message = `${forge} responded with ${status}: ${shown(text)}`
  const wait = waitSeconds(headers, now_ms)
  const limited =
    status === 429 ||
    (status === 403 &&
      (headers['retry-after'] !== undefined ||
        headers['x-ratelimit-remaining'] === '0' ||
        /rate limit|abuse/i.test(message)))
  if (limited)
    return new ForgeError('rate_limited', message, {
      http_status: status,
      retry_after_seconds: wait ?? DEFAULT_WAIT,
    })
  return new ForgeError(codeOf(status), message, {
    http_status: status,
    retry_after_seconds: status >= 500 ? wait : null,
  })
}

/**
 * Returns the error of a request without a response, or with one that is too large. An address that is not
 * allowed will not be allowed later either.
 */
export function connectionFailure(forge: string, { message }: Error): ForgeError {
  if (message.startsWith('the response is larger than'))
    return new ForgeError('answer', `${forge}: ${shown(message)}`)
  const code = message.startsWith('address not allowed') ? 'refused' : 'unreachable'
  return new ForgeError(code, `${forge} was not reached: ${shown(message)}`)
}

function codeOf(status: number) {
  if (status >= 500) return 'server_error'
  if (status === 401) return 'auth'
  if (status === 403) return 'forbidden'
  if (status === 404 || status === 410) return 'not_found'
  return [405, 409, 412, 423].includes(status) ? 'conflict' : 'refused'
}

/** `Retry-After`, or until the rate limit is reset where nothing of it is left. */
function waitSeconds(headers: Headers, now_ms: number): number | null {
  const after = Number(headers['retry-after'])
  if (headers['retry-after'] !== undefined && Number.isFinite(after)) return Math.max(1, after)
  const reset = Number(headers['x-ratelimit-reset'])
  if (headers['x-ratelimit-remaining'] !== '0' || !Number.isFinite(reset)) return null
  return Math.max(1, Math.ceil(reset - now_ms / 1_000))
}
