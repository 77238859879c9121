import { MAX_UNREDACTED_CHARS } from '../core/text/truncate.ts'
import { exceedsContext, withoutAddresses } from './named-limits.ts'
import { ModelError, type ModelErrorCode } from './port.ts'
import { readRefusal, record } from './refusal-body.ts'

const MAX_CAUSES = 5
const MAX_RETRY_AFTER_MS = 24 * 3_600_000
/** Refusals of a request for what it has; null: in the middle of a stream. */
const REFUSALS = [null, 400, 413, 422]

/**
 * Returns an error of the SDK, the provider or the network as a ModelError. The message is the provider's own
 * text, bounded, in one line, without `secrets`. No cause is kept: the SDK's errors carry the whole request,
 * prompt included, and would be logged with it.
 */
export function toModelError(error: unknown, secrets: string[], now: number): ModelError {
  const own = ownError(error)
  if (own !== null) return own
  const facts = factsOf(error)
  const code = codeOf(facts)
  const message =
    facts.unreadable ??
    (facts.message ||
      (facts.status === null
        ? 'The model cannot be reached.'
        : `The provider responded with ${facts.status}.`))
  return new ModelError(
    code,
    tidy(code === 'rejected' && facts.ours ? `The request could not be sent: ${message}` : message, secrets),
    {
      http_status: facts.status,
      retry_after_ms: retryAfter(error, now),
      ...(isUnpaid(facts) ? { retryable: false } : {}),
    },
  )
}

/** Returns the error of the service that the SDK has wrapped, as it does with those of a stream. */
function ownError(error: unknown): ModelError | null {
  let at = error
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth++) {
    if (at instanceof ModelError) return at
    at = at.cause
  }
  return null
}

type Facts = {
  status: number | null
  /** The provider's machine-readable words for the error: type, code, status. */
  words: string
  message: string
  /** One sentence when it is the stream that cannot be understood. */
  unreadable: string | null
  /**
   * The connection ended in the middle of a response: the provider was stopped, or something on the way to
   * it.
   */
  cut: boolean
  /** The SDK refused before anything was sent. */
  ours: boolean
}

function codeOf(facts: Facts): ModelErrorCode {
  const { status, words, message } = facts
  if (facts.cut) return 'unavailable'
  if (facts.unreadable) return 'malformed'
  if (facts.ours) return 'rejected'
  if (/context_length_exceeded|context_window_exceeded/.test(words)) return 'context_exceeded'
  if (REFUSALS.includes(status) && exceedsContext(message)) return 'context_exceeded'
  if (isUnpaid(facts)) return 'rate_limited'
  if (status === 401 || status === 403 || /authentication|permission|invalid_api_key/i.test(words))
    return 'auth'
  if (/api key not valid/i.test(message)) return 'auth'
  if (status === 429 || /rate_?limit|resource_exhausted/i.test(words)) return 'rate_limited'
  if (status === null)
    return /invalid_request|not_found|invalid_argument|invalid_prompt/i.test(words)
      ? 'rejected'
      : 'unavailable'
  return status >= 500 || status === 408 || status === 409 ? 'unavailable' : 'rejected'
}

/** An account without money does not get better by waiting. */
function isUnpaid({ status, words, message }: Facts): boolean {
  if (status === 402) return true
  const unpaid = /insufficient_quota|billing|credit balance/i
  return (
    (status === null || status === 400 || status === 429) &&
    unpaid.test(`${words} ${withoutAddresses(message)}`)
  )
}

function factsOf(error: unknown): Facts {
  const fields = record(error)
  const data = record(record(fields.data).error)
  const name = typeof fields.name === 'string' ? fields.name : ''
  // Where a body has another form than the provider's own, the SDK knows only the text of its status.
  const refusal = readRefusal(fields.responseBody ?? fields.data ?? errorEvent(fields.value))
  const message = refusal?.text ?? (typeof fields.message === 'string' ? fields.message : '')
  const status =
    [fields.statusCode, fields.status, fields.code, data.code]
      .map(Number)
      .find(code => code >= 300 && code < 600) ?? null
  const own_words = [fields.type, fields.code, data.type, data.code, data.status].filter(
    word => typeof word === 'string',
  )
  const words = [...own_words, ...(refusal?.words ?? [])].join(' ')
  const provider =
    status !== null ||
    words !== '' ||
    /APICallError|StreamProviderError/.test(name) ||
    !(error instanceof Error)
  const causes = [message, record(fields.cause).message]
  const cut =
    status === null &&
    causes.some(text => text === 'terminated' || text === 'Failed to process successful response')
  const shown = cut ? 'The connection was cut in the middle of the response.' : message
  return {
    status,
    words,
    message: shown,
    unreadable: refusal ? null : unreadable(name, message),
    cut,
    ours: !provider && refusal === null,
  }
}

/**
 * An event that does not have the form of its protocol, but states an error: text-generation-inference sends
 * `{"error": "…"}`.
 */
const errorEvent = (value: unknown): unknown => ((record(value).error ?? null) === null ? null : value)

/** The SDK's own texts quote the stream at length, so they are not passed on. */
function unreadable(name: string, message: string): string | null {
  if (/JSONParseError/.test(name)) return 'An event of the model is not valid JSON.'
  if (/TypeValidationError/.test(name)) return 'An event of the model does not have the form of its protocol.'
  if (/InvalidResponseDataError|EmptyResponseBodyError|NoOutputGenerated/.test(name)) return message
  return null
}

function tidy(text: string, secrets: string[]): string {
  let message = text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim()
  for (const secret of secrets) if (secret.length >= 4) message = message.replaceAll(secret, '[key]')
  message = message.replace(/\b(?:(?:sk|pk|key)[-_]|AIza)[-_A-Za-z0-9*]{12,}/g, '[key]')
  return message.slice(0, MAX_UNREDACTED_CHARS).toWellFormed()
}

/**
 * Milliseconds from `retry-after-ms`, `Retry-After` (seconds or an HTTP date) or Google's RetryInfo; null
 * without any of them.
 */
function retryAfter(error: unknown, now: number): number | null {
  const { responseHeaders, data } = record(error)
  const headers = record(responseHeaders)
  const value = headers['retry-after']
  const details = record(record(data).error).details
  const delay = Array.isArray(details)
    ? details.map(detail => record(detail).retryDelay).find(found => typeof found === 'string')
    : undefined
  const requested = [
    Number(headers['retry-after-ms'] ?? Number.NaN),
    Number(value ?? Number.NaN) * 1_000,
    typeof value === 'string' ? Date.parse(value) - now : Number.NaN,
    typeof delay === 'string' ? Number.parseFloat(delay) * 1_000 : Number.NaN,
  ].find(ms => Number.isFinite(ms))
  return requested === undefined ? null : Math.min(Math.max(Math.ceil(requested), 0), MAX_RETRY_AFTER_MS)
}
