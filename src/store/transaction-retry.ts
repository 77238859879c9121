import { isDatabaseAway } from '../core/database-away.ts'
import { pause } from '../core/pause.ts'
import { type RetryPolicy, retryDelay } from '../core/retry-policy.ts'

/**
 * serialization_failure, deadlock_detected and idle_in_transaction_session_timeout: the server rolled the
 * transaction back for the benefit of others.
 */
const RETRYABLE_CODES = new Set(['40001', '40P01', '25P03'])
const MAX_ATTEMPTS = 4
/** More than a pool has connections. */
const MAX_OUTDATED_CONNECTIONS = 100
/** Milliseconds. */
const retries: RetryPolicy = { delays: [50, 100, 150], jitter: [0, 1] }

/** Errors after which the statement or transaction certainly had no effect. */
const rolled_back = new WeakSet<object>()

/**
 * Marks an error as one without any effect: the request was never sent, or never committed. Returns the
 * error.
 */
export function markRolledBack<E>(error: E): E {
  if (typeof error === 'object' && error !== null) rolled_back.add(error)
  return error
}

/**
 * Repeats `work`, three times at most, when the server rolled it back for the benefit of others: then it had
 * no effect. Repeats it once more for each connection with an outdated prepared statement, which is closed by
 * then.
 */
export async function retrySerialization<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1, outdated = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (isOutdated(error) && outdated++ < MAX_OUTDATED_CONNECTIONS) {
        attempt--
        continue
      }
      if (attempt === MAX_ATTEMPTS || !RETRYABLE_CODES.has((error as { code?: string }).code ?? ''))
        throw error
      await pause(retryDelay(retries, attempt))
    }
  }
}

/**
 * Returns whether a failed statement certainly changed nothing. A plain ERROR of the server had no effect;
 * without one only marked errors are known to have had none.
 */
export function hadNoEffect(error: unknown): boolean {
  const { severity } = error as { severity?: string }
  return isDatabaseAway(error) && (severity === 'ERROR' || rolled_back.has(error as object))
}

/**
 * Returns whether a connection is unusable after this error of a statement: after everything but a plain
 * ERROR from the server itself.
 */
export function breaksConnection(error: unknown): boolean {
  const { severity } = error as { severity?: string }
  return isOutdated(error) || severity === undefined || severity === 'FATAL' || severity === 'PANIC'
}

/**
 * A newer version has migrated meanwhile: a prepared statement of this connection returns other columns now,
 * and fails permanently.
 */
function isOutdated(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  return code === '0A000' && message === 'cached plan must not change result type'
}
