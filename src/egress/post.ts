import type { IncomingMessage } from 'node:http'
import { orAborted } from '../core/abort.ts'
import { deadline } from '../core/deadline.ts'
import { settledWithin } from '../core/timeout.ts'
import { type AttemptOutcome, readRetryAfter } from '../core/webhooks/webhook-retries.ts'
import type { Outgoing } from './connect-checked.ts'
import { connectOf, send } from './fetch.ts'
import { RefusedAddressError } from './refused.ts'

/** From the first DNS query to the end of the response. */
const REQUEST_TIMEOUT_MS = 10_000
/** The timeout of the body once there is a status. */
const BODY_TIMEOUT_MS = 1_000
const MAX_RESPONSE_BYTES = 64 * 1024
const KEPT_RESPONSE_CHARS = 1_000

/**
 * Posts a text to a URL: the name is resolved once, its addresses are checked, and one of those is connected
 * to. Redirects are not followed. Bounded in time and size regardless of the receiver. Never rejects: the
 * reason for a missing status is data.
 */
export async function post(
  outgoing: Outgoing,
  to: { url: string; headers: Record<string, string>; body: string; signal: AbortSignal },
): Promise<AttemptOutcome> {
  const began = performance.now()
  using limit = deadline(REQUEST_TIMEOUT_MS, to.signal)
  const none = { status: null, refused: false, answer: null, retry_after: null }
  const outcome = await exchange(outgoing, to, limit.signal).catch(error => ({
    ...none,
    ...failureOf(error, to.signal, limit.passed),
  }))
  return { ...outcome, latency_ms: Math.round(performance.now() - began) }
}

function failureOf(
  error: unknown,
  own_signal: AbortSignal,
  late: boolean,
): { error: string; refused: boolean } {
  if (own_signal.aborted) return { error: 'the service stopped before there was a response', refused: false }
  if (late) return { error: `no response within ${REQUEST_TIMEOUT_MS / 1_000} seconds`, refused: false }
  const { code, message } = error as NodeJS.ErrnoException
  return {
    error: (error instanceof RefusedAddressError ? message : (code ?? message)).slice(0, 300),
    refused: error instanceof RefusedAddressError,
  }
}

async function exchange(
  outgoing: Outgoing,
  { url, headers, body }: { url: string; headers: Record<string, string>; body: string },
  signal: AbortSignal,
): Promise<Omit<AttemptOutcome, 'latency_ms'>> {
  const { response, socket } = await send(connectOf(outgoing), new URL(url), {
    method: 'POST',
    headers,
    body,
    signal,
  })
  try {
    const text = await beginningOf(response, signal)
    const status = response.statusCode ?? 0
    const error =
      status >= 200 && status < 300
        ? null
        : status >= 300 && status < 400
          ? `it responded with ${status}: redirects are not followed`
          : `it responded with ${status}`
    return {
      status,
      error,
      refused: false,
      answer: text,
      retry_after: readRetryAfter(response.headers['retry-after'], Date.now()),
    }
  } finally {
    socket.destroy()
  }
}

/** Returns the beginning of the response as text that can be stored. The rest is not read. */
async function beginningOf(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  const read = new Promise<void>(done => {
    response.on('data', (piece: Buffer) => {
      pieces.push(piece)
      bytes += piece.length
      if (bytes >= MAX_RESPONSE_BYTES) done()
    })
    for (const end of ['end', 'error', 'close']) response.once(end, () => done())
  })
  // An aborted request leaves what was read.
  await settledWithin(orAborted(read, signal), BODY_TIMEOUT_MS).catch(() => {})
  response.destroy()
  return Buffer.concat(pieces)
    .toString('utf8')
    .replaceAll('\0', '')
    .slice(0, KEPT_RESPONSE_CHARS)
    .toWellFormed()
}
