import { RequestError } from '@octokit/request-error'
import { ForgeError } from '../port.ts'

/** Seconds that GitHub asks to be left alone when it does not say how many. */
const USUAL_WAIT = 60
const SHOWN_CHARS = 500

/** What octokit threw, as the port has it. Whatever is no failure of a request goes on as it is. */
export function forgeErrorFrom(error: unknown, now_ms = Date.now()): unknown {
  if (error instanceof ForgeError || !(error instanceof RequestError)) return error
  const { response } = error
  if (error.cause instanceof ForgeError) return error.cause
  if (!response)
    return new ForgeError(isRefusedAddress(error) ? 'refused' : 'unreachable', `GitHub was not reached: ${shown(error.message)}`)
  const { status, headers } = response
  const message = `GitHub answered ${status}: ${shown(saidIn(response.data))}`
  const wait = waitSeconds(headers, now_ms)
  const limited =
    status === 429 ||
    (status === 403 &&
      (headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0' || /rate limit|abuse/i.test(message)))
  if (limited) return new ForgeError('rate_limited', message, { http_status: status, retry_after_seconds: wait ?? USUAL_WAIT })
  return new ForgeError(codeOf(status), message, { http_status: status, retry_after_seconds: status >= 500 ? wait : null })
}

/** No answer of a name server makes it another one. */
const isRefusedAddress = ({ message }: Error) => message.startsWith('address not allowed')

function codeOf(status: number) {
  if (status >= 500) return 'server_error'
  if (status === 401) return 'auth'
  if (status === 403) return 'forbidden'
  if (status === 404 || status === 410) return 'not_found'
  return status === 405 || status === 409 ? 'conflict' : 'refused'
}

type Headers = Record<string, string | number | undefined>

/** `Retry-After`, or until the limit is reset where nothing of it is left. */
function waitSeconds(headers: Headers, now_ms: number): number | null {
  const after = Number(headers['retry-after'])
  if (headers['retry-after'] !== undefined && Number.isFinite(after)) return Math.max(1, after)
  const reset = Number(headers['x-ratelimit-reset'])
  if (headers['x-ratelimit-remaining'] !== '0' || !Number.isFinite(reset)) return null
  return Math.max(1, Math.ceil(reset - now_ms / 1_000))
}

/** `message` and what it says of each field. */
function saidIn(data: unknown): string {
  if (typeof data !== 'object' || data === null) return String(data ?? '')
  const { message, errors } = data as { message?: unknown; errors?: unknown }
  const details = Array.isArray(errors) ? errors.map(detailOf).filter(text => text !== '') : []
  return [typeof message === 'string' ? message : 'no message', ...details].join('; ')
}

function detailOf(error: unknown): string {
  if (typeof error === 'string') return error
  if (typeof error !== 'object' || error === null) return ''
  const { message, resource, field, code } = error as Record<string, unknown>
  return typeof message === 'string' ? message : [resource, field, code].filter(part => typeof part === 'string').join(' ')
}

const shown = (text: string) => {
  const line = text.replace(/\s+/g, ' ').trim()
  return (line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line).toWellFormed()
}
