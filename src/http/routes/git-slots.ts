import { ServiceError } from '../../core/service-error.ts'

const busy = () =>
  new ServiceError('unavailable', 'As many clients of git are served as can be; try again.', { headers: { 'retry-after': '10' } })

/**
 * How many clients of git are served at once, all together and of one user: each costs processes. One who comes later waits for a turn, then 503.
 */
export function gitSlots(bounds: { total: number; of_user: number; wait_ms: number }) {
  const held = new Map<number, number>()
  const waiting = new Set<{ user_id: number; go: () => void }>()
  const total = () => [...held.values()].reduce((sum, count) => sum + count, 0)
  const free = (user_id: number) => total() < bounds.total && (held.get(user_id) ?? 0) < bounds.of_user

  function hold(user_id: number): () => void {
    held.set(user_id, (held.get(user_id) ?? 0) + 1)
    let released = false
    return () => {
      if (released) return
      released = true
      const left = (held.get(user_id) ?? 0) - 1
      if (left > 0) held.set(user_id, left)
      else held.delete(user_id)
      const next = [...waiting].find(one => free(one.user_id))
      next?.go()
    }
  }

  /** Answers how to give the place back; 503 when none was free in time. */
  return async function take(user_id: number): Promise<() => void> {
    if (free(user_id)) return hold(user_id)
    const turn = Promise.withResolvers<() => void>()
    const one = { user_id, go: () => end(() => turn.resolve(hold(user_id))) }
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
