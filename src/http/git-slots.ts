import { ServiceError } from '../core/service-error.ts'

const busy = () =>
  new ServiceError('unavailable', 'As many clients of git are served as can be; try again.', { headers: { 'retry-after': '10' } })

/**
 * How many clients of git are served at once, all together and of one token: each costs processes. One who comes later waits for a turn,
 * whose token has none too many, then 503.
 */
export function gitSlots(bounds: { total: number; of_token: number; wait_ms: number }) {
  const held = new Map<number, number>()
  const waiting = new Set<{ token_id: number; go: () => void }>()
  const total = () => [...held.values()].reduce((sum, count) => sum + count, 0)
  const free = (token_id: number) => total() < bounds.total && (held.get(token_id) ?? 0) < bounds.of_token

  function hold(token_id: number): () => void {
    held.set(token_id, (held.get(token_id) ?? 0) + 1)
    let released = false
    return () => {
      if (released) return
      released = true
      const left = (held.get(token_id) ?? 0) - 1
      if (left > 0) held.set(token_id, left)
      else held.delete(token_id)
      const next = [...waiting].find(one => free(one.token_id))
      next?.go()
    }
  }

  /** Answers how to give the place back; 503 when none was free in time. */
  return async function take(token_id: number): Promise<() => void> {
    if (free(token_id)) return hold(token_id)
    const turn = Promise.withResolvers<() => void>()
    const one = { token_id, go: () => end(() => turn.resolve(hold(token_id))) }
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
