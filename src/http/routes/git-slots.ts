import { ServiceError } from '../../core/service-error.ts'

const busy = () =>
  new ServiceError('unavailable', 'Too many git clients are being served; try again.', { headers: { 'retry-after': '10' } })

/**
 * Limits how many git clients are served at once, in total and per user: each costs processes. A further client waits, then gets 503.
 */
export function gitSlots(bounds: { total: number; of_user: number; wait_ms: number }) {
  const used = new Map<number, number>()
  const waiting = new Set<{ user_id: number; go: () => void }>()
  const total = () => [...used.values()].reduce((sum, count) => sum + count, 0)
  const free = (user_id: number) => total() < bounds.total && (used.get(user_id) ?? 0) < bounds.of_user

  function occupy(user_id: number): () => void {
    used.set(user_id, (used.get(user_id) ?? 0) + 1)
    let released = false
    return () => {
      if (released) return
      released = true
      const left = (used.get(user_id) ?? 0) - 1
      if (left > 0) used.set(user_id, left)
      else used.delete(user_id)
      const next = [...waiting].find(one => free(one.user_id))
      next?.go()
    }
  }

  /** Returns the function that releases the slot. Throws 503 when none was free in time. */
  return async function take(user_id: number): Promise<() => void> {
    if (free(user_id)) return occupy(user_id)
    const turn = Promise.withResolvers<() => void>()
    const one = { user_id, go: () => end(() => turn.resolve(occupy(user_id))) }
    const timer = setTimeout(() => end(() => turn.reject(busy())), bounds.wait_ms)
    const end = (settle: () => void) => {
      waiting.delete(one)
      clearTimeout(timer)
      settle()
    }
    waiting.add(one)
    return turn.promise
  }
}
