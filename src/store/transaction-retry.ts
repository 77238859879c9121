import { isDatabaseAway } from '../core/database-away.ts'
import { exponential, type RetryPolicy, retryDelay } from '../core/retry-policy.ts'
import type { Transactional } from './database.ts'

/** serialization_failure, deadlock_detected and idle_in_transaction_session_timeout: the server took the transaction back for the sake of others. */
const FOR_OTHERS = new Set(['40001', '40P01', '25P03'])
const TRIES = 4
/** More than a pool has connections. */
const MOST_OUTDATED = 100
/** Milliseconds. */
const retries: RetryPolicy = { delays: [50, 100, 150], jitter: [0, 1] }
/** Of `retryWhileUnavailable`. */
const unavailable_retries = exponential(250, 250)

/** Errors after which nothing of what was asked has been done, whatever they look like. */
const undone = new WeakSet<object>()

/** Says of an error that nothing of what was asked has been done: it was never sent, or never committed. Gives the error back. */
export function markUndone<E>(error: E): E {
  if (typeof error === 'object' && error !== null) undone.add(error)
  return error
}

/**
 * Does `work` again, three times at most, when the server undid it for the sake of others: nothing of it is left then. And once more for each connection
 * that turns out to be outdated, which is closed by then.
 */
export async function retrySerialization<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1, outdated = 0; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (isOutdated(error) && outdated++ < MOST_OUTDATED) {
        attempt--
        continue
      }
      if (attempt === TRIES || !FOR_OTHERS.has((error as { code?: string }).code ?? '')) throw error
      await pause(retryDelay(retries, attempt))
    }
  }
}

/**
 * The same database for somebody who would rather wait: what is surely undone because the database is away is done again, until it is
 * pointless. What may have been done is not: whoever asked looks what is there.
 */
export function retryWhileUnavailable(db: Transactional, isPointless: () => boolean): Transactional {
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!isSurelyUndone(error) || isPointless()) throw error
        await pause(retryDelay(unavailable_retries, 1))
      }
    }
  }
  return { query: query => again(() => db.query(query)), transaction: work => again(() => db.transaction(work)) }
}

/** The server says of a plain ERROR that it did nothing; what it did not say we know only where it was marked. */
function isSurelyUndone(error: unknown): boolean {
  const { severity } = error as { severity?: string }
  return isDatabaseAway(error) && (severity === 'ERROR' || undone.has(error as object))
}

/** Whether a connection is of no use after this error of a statement: everything but a plain ERROR that the server itself has told. */
export function breaksConnection(error: unknown): boolean {
  const { severity } = error as { severity?: string }
  return isOutdated(error) || severity === undefined || severity === 'FATAL' || severity === 'PANIC'
}

/** A newer version has migrated meanwhile: a statement that this connection has prepared answers other columns now, and fails there for ever. */
function isOutdated(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  return code === '0A000' && message === 'cached plan must not change result type'
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
