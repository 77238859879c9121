import { ServiceError } from '../../core/service-error.ts'

type SlotHolder = { organization_id: number; user_id: number }

/**
 * `yields`: from now on only the client delays the end, and `end` cuts it off. `release`: the holder has
 * ended; calling it again has no effect.
 */
export type Slot = { yields(end: () => void): void; release(): void }

export type SlotBounds = {
  total: number
  /** Of `total`, those that only an organization without any slot may take. */
  reserved: number
  of_organization: number
  of_user: number
  wait_ms: number
  /** How long an organization without any slot waits before it takes that of a slow client. */
  patience_ms: number
  /** How long a client may be slow: while its organization has another slot, and otherwise. */
  slow_ms: number
  very_slow_ms: number
}

type HeldSlot = SlotHolder & { yielding: { end: () => void; since: number } | null }
type WaitingHolder = SlotHolder & { go: () => void }

const busy = () =>
  new ServiceError('unavailable', 'Too many git clients are being served; try again.', {
    headers: { 'retry-after': '10' },
  })

/**
 * Limits how many git clients are served at once, in total, of an organization and of a user: each costs
 * processes. A further client waits, then gets 503. A free slot goes to the organization that has the fewest.
 * Some are only for one that has none, whatever others wait for; without a free one, it does not wait for
 * slow clients: the slowest of the organization with the most slots is cut off.
 */
export function gitSlots(bounds: SlotBounds) {
  const held = new Set<HeldSlot>()
  const waiting = new Set<WaitingHolder>()
  const count = (key: keyof SlotHolder, value: number) => [...held].filter(one => one[key] === value).length
  const free = (one: SlotHolder) =>
    held.size < bounds.total - (share(one) > 0 ? bounds.reserved : 0) &&
    count('organization_id', one.organization_id) < bounds.of_organization &&
    count('user_id', one.user_id) < bounds.of_user
  const share = (one: SlotHolder) => count('organization_id', one.organization_id)

  function occupy({ organization_id, user_id }: SlotHolder): Slot {
    const own: HeldSlot = { organization_id, user_id, yielding: null }
    held.add(own)
    return {
      yields: end => {
        own.yielding = { end, since: performance.now() }
      },
      release: () => {
        if (!held.delete(own)) return
        const next = [...waiting].filter(free).sort((a, b) => share(a) - share(b))[0]
        next?.go()
      },
    }
  }

  function cutOff(one: SlotHolder): void {
    if (share(one) > 0 || held.size < bounds.total) return
    const now = performance.now()
    const slow = [...held].flatMap(other => {
      const { yielding } = other
      const max_ms = share(other) > 1 ? bounds.slow_ms : bounds.very_slow_ms
      return yielding && now - yielding.since >= max_ms ? [{ share: share(other), yielding }] : []
    })
    const [worst] = slow.sort((a, b) => b.share - a.share || a.yielding.since - b.yielding.since)
    worst?.yielding.end()
  }

  /** Throws 503 when no slot was free in time. */
  return async function take(holder: SlotHolder): Promise<Slot> {
    if (free(holder)) return occupy(holder)
    const turn = Promise.withResolvers<Slot>()
    const one: WaitingHolder = { ...holder, go: () => end(() => turn.resolve(occupy(holder))) }
    const timers = [
      setTimeout(() => end(() => turn.reject(busy())), bounds.wait_ms),
      setTimeout(() => cutOff(holder), bounds.patience_ms),
    ]
    const end = (settle: () => void) => {
      waiting.delete(one)
      for (const timer of timers) clearTimeout(timer)
      settle()
    }
    waiting.add(one)
    return turn.promise
  }
}
