import { pause } from '../core/pause.ts'
import type { LimitReached } from '../core/runs/budget/limits.ts'
import { chargeOfBroken, type Reservation } from '../core/runs/budget/pot.ts'
import { type Model, ModelError, type ModelRequest, type ModelResponse } from '../model/port.ts'
import { type ModelRetryPolicy, waitBefore } from './model-retry-policy.ts'

export type FailedAttempt = { error: ModelError; attempt: number; retry_in_ms: number | null }

/** One attempt, which is recorded already, with its reservation. */
export type Attempt = { request: ModelRequest; reservation: Reservation }

type CallHooks = {
  /** Called first after every failure, including an abort. `charge`: its cost; null when it cost nothing. */
  failed(failed: FailedAttempt, charge: Reservation | null): Promise<void>
  /** Records the next attempt, or returns a limit that forbids it. */
  again(): Promise<Attempt | LimitReached>
}

/**
 * Calls the model with retries: waits as the provider requests, or with exponential backoff and jitter.
 * Returns a limit that forbids another attempt. Rejects with the last ModelError when the policy allows no
 * further wait.
 */
export async function callWithRetries(
  model: Model,
  first: Attempt,
  policy: ModelRetryPolicy,
  hooks: CallHooks,
): Promise<{ response: ModelResponse } | { limit: LimitReached }> {
  let current = first
  let waited_ms = 0
  // Rate limits do not count as failures: the provider is available.
  const failures = { limited: 0, other: 0 }
  for (let attempt = 1; ; attempt++) {
    const result = await callOnce(model, current.request)
    if ('response' in result) return result
    const { error, may_cost, seen_characters } = result
    const wait = waitBefore(
      error,
      ++failures[error.code === 'rate_limited' ? 'limited' : 'other'],
      waited_ms,
      policy,
    )
    const charge = may_cost ? chargeOfBroken(current.reservation, model.price, seen_characters) : null
    await hooks.failed({ error, attempt, retry_in_ms: wait }, charge)
    if (wait === null) throw error
    await pause(wait, current.request.signal).catch(cause => {
      throw new ModelError('aborted', 'stopped while waiting to call the model again', { cause })
    })
    waited_ms += wait
    const next = await hooks.again()
    if ('kind' in next) return { limit: next }
    current = next
  }
}

type FailedCall = { error: ModelError; may_cost: boolean; seen_characters: number }

async function callOnce(
  model: Model,
  request: ModelRequest,
): Promise<{ response: ModelResponse } | FailedCall> {
  let seen_characters = 0
  let began = false
  const on_progress = () => {
    began = true
    request.on_progress?.()
  }
  const on_delta: ModelRequest['on_delta'] = delta => {
    seen_characters += delta.text.length
    request.on_delta?.(delta)
  }
  if (request.signal?.aborted)
    return { error: new ModelError('aborted', 'stopped before the call'), may_cost: false, seen_characters }
  try {
    return { response: await model.call({ ...request, on_progress, on_delta }) }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : 'unknown error'
    const error =
      cause instanceof ModelError ? cause : new ModelError('malformed', `unexpected: ${message}`, { cause })
    // A provider that refused or was not reached charges nothing. One that started to respond, or may have,
    // does.
    return {
      error,
      may_cost: began || ['timeout', 'malformed', 'aborted'].includes(error.code),
      seen_characters,
    }
  }
}
