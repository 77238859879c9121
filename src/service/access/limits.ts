import type { Bucket } from '../../contract/endpoint.ts'
import { type Charge, chargesOf, type Rates, type Window } from '../../core/access/rate-window.ts'
import { isDatabaseFull } from '../../core/database-away.ts'
import { chargeWindows } from '../../store/access/rate-windows.ts'
import type { Db } from '../../store/database.ts'

export type Who = { token_id: number; user_id: number; browser: boolean; organization_id: number | null }
export type Charged = { allowed: boolean; windows: Window[] }
export type Limiter = {
  /** Charges a request to its windows. `known`: it repeats one that was charged. `db`: to be part of a transaction. */
  charge(bucket: Bucket, who: Who, options?: { known?: boolean; db?: Db }): Promise<Charged>
}

/** From here on a node takes a thousandth of the limit at a time and counts it by itself, for a second at most. */
const large_requests = 10_000
const share_ms = 1_000

type Share = { left: number; until: number; window: Window }

/** The limits of specification.md#rate-limits over all nodes. A refused request is not counted. */
export function createLimiter(db: Db, rates: Rates): Limiter {
  const shares = new Map<string, Share>()
  const keyOf = (charge: Charge) => `${charge.subject} ${charge.name}`
  const isLarge = (charge: Charge) => charge.rate.requests >= large_requests

  /** From what this node has taken already; null when the database must be asked. */
  function chargeShares(charges: Charge[]): Charged | null {
    const now = performance.now()
    const held = charges.map(charge => shares.get(keyOf(charge)))
    if (!held.every(share => share !== undefined && share.left > 0 && share.until > now)) return null
    const windows = (held as Share[]).map(share => {
      share.left -= 1
      return { ...share.window, used: share.window.used - share.left }
    })
    return { allowed: true, windows }
  }

  async function chargeLarge(within: Db, charges: Charge[]): Promise<Charged> {
    const amount = Math.floor(Math.min(...charges.map(charge => charge.rate.requests)) / 1000)
    const taken = await chargeWindows(within, charges, amount)
    // The last few of a large limit are counted one by one.
    if (!taken.allowed) return chargeWindows(within, charges)
    const until = performance.now() + share_ms
    if (shares.size > 10_000) shares.clear()
    for (const [n, window] of taken.windows.entries()) shares.set(keyOf(charges[n] as Charge), { left: amount - 1, until, window })
    return { allowed: true, windows: taken.windows.map(window => ({ ...window, used: window.used - amount + 1 })) }
  }

  return {
    async charge(bucket, who, { known = false, db: within = db } = {}) {
      const charges = chargesOf(rates, bucket, who, known)
      if (charges.length === 0) return { allowed: true, windows: [] }
      try {
        if (!charges.every(isLarge)) return await chargeWindows(within, charges)
        return chargeShares(charges) ?? (await chargeLarge(within, charges))
      } catch (error) {
        // Nothing can be written then, and reading is not refused for want of a place to count it in.
        if (within === db && isDatabaseFull(error)) return { allowed: true, windows: [] }
        throw error
      }
    },
  }
}
