import { type Model, type ModelAnswer, ModelError, type ModelRequest } from '../model/port.ts'

export type RetryPolicy = { attempts: number; first_wait_ms: number; longest_wait_ms: number }
export const retryPolicy: RetryPolicy = { attempts: 5, first_wait_ms: 1_000, longest_wait_ms: 60_000 }

/** A provider that answers gibberish twice will do so again. */
const MALFORMED_ATTEMPTS = 2

export type FailedAttempt = { error: ModelError; attempt: number; retry_in_ms: number | null }

/**
 * A model call with its retries: waits as the provider asked or ever longer, with jitter, and tells of every failure before it waits.
 * Rejects with the last ModelError. A wait longer than the policy's longest is not begun: that provider is not coming back for this run.
 */
export async function callWithRetries(
  model: Model,
  request: ModelRequest,
  policy: RetryPolicy,
  onFailure: (failed: FailedAttempt) => Promise<void>,
): Promise<ModelAnswer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await model.call(request)
    } catch (cause) {
      const error =
        cause instanceof ModelError
          ? cause
          : new ModelError('malformed', `unexpected: ${cause instanceof Error ? cause.message : 'unknown error'}`, { cause })
      if (error.code === 'aborted') throw error
      const wait = waitBefore(attempt, error, policy)
      await onFailure({ error, attempt, retry_in_ms: wait })
      if (wait === null) throw error
      await pause(wait, request.signal)
    }
  }
}

function waitBefore(attempt: number, error: ModelError, policy: RetryPolicy): number | null {
  const attempts = error.code === 'malformed' ? MALFORMED_ATTEMPTS : policy.attempts
  if (!error.retryable || attempt >= attempts) return null
  if (error.retry_after_ms !== null)
    return error.retry_after_ms > policy.longest_wait_ms ? null : error.retry_after_ms + Math.random() * 250
  const backoff = Math.min(policy.first_wait_ms * 2 ** (attempt - 1), policy.longest_wait_ms)
  return backoff * (0.5 + Math.random() / 2)
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer)
      reject(new ModelError('aborted', 'stopped while waiting to call the model again'))
    }
    if (signal?.aborted) return reject(new ModelError('aborted', 'stopped'))
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }, ms)
    signal?.addEventListener('abort', aborted, { once: true })
  })
}
