import { pause } from '../core/pause.ts'
import { exponential, retryDelay } from '../core/retry-policy.ts'
import type { Transactional } from './database.ts'
import { hadNoEffect } from './transaction-retry.ts'

/** Milliseconds. */
const retries = exponential(250, 250)

/**
 * Returns a database that waits while the server is unavailable: it repeats what certainly had no effect,
 * until `isPointless`. It never repeats what may have had an effect: the caller must check.
 */
export function retryWhileUnavailable(db: Transactional, isPointless: () => boolean): Transactional {
  const retry = async <T>(work: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!hadNoEffect(error) || isPointless()) throw error
        await pause(retryDelay(retries, 1))
      }
    }
  }
  return {
    query: query => retry(() => db.query(query)),
    transaction: work => retry(() => db.transaction(work)),
  }
}
