import { createSemaphore, type Semaphore } from './semaphore.ts'

/** Does `work` when it is the turn of this owner's call. Rejects with the reason of `signal` before that. */
type Turns = <T>(owner: number, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/** Returns turns: one call of each owner at a time, in order of arrival. No owner waits for another one. */
export function createTurns(): Turns {
  const owners = new Map<number, { semaphore: Semaphore; calls: number }>()
  return async (owner, work, signal) => {
    const own = owners.get(owner) ?? { semaphore: createSemaphore(1), calls: 0 }
    owners.set(owner, own)
    own.calls++
    try {
      const leave = await own.semaphore.enter(signal)
      if (leave === null) throw signal?.reason
      try {
        return await work()
      } finally {
        leave()
      }
    } finally {
      if (--own.calls === 0) owners.delete(owner)
    }
  }
}
