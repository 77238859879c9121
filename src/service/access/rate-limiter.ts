import type { Bucket } from '../../contract/endpoint.ts'
import { type Charge, chargesOf, type Rates, type Window } from '../../core/access/rate-window.ts'
import { isDatabaseFull } from '../../core/database-away.ts'
import { chargeWindows } from '../../store/access/rate-windows.ts'
import type { Db } from '../../store/database.ts'

export type Who = { token_id: number; user_id: number; browser: boolean; organization_id: number | null }
export type ChargeResult = { allowed: boolean; windows: Window[] }
export type Limiter = {
  /**
   * Charges a request to its windows. `known`: it repeats a request that was charged. `db`: the transaction
   * to charge in.
   */
  charge(bucket: Bucket, who: Who, options?: { known?: boolean; db?: Db }): Promise<ChargeResult>
}

/**
 * For limits from this size on, a node reserves a thousandth of the limit at a time and counts it locally,
 * for a second at most.
 */
const LARGE_LIMIT = 10_000
const SHARE_TTL_MS = 1_000

type Share = { left: number; until: number; window: Window }

/** Enforces the limits of specification.md#rate-limits across all nodes. A refused request is not counted. */
export function createLimiter(db: Db, rates: Rates): Limiter {
  const shares = new Map<string, Share>()
  const reservations = new Map<string, Promise<ChargeResult>>()
  const keyOf = (charge: Charge) => `${charge.subject} ${charge.name}`
  const isLarge = (charge: Charge) => charge.rate.requests >= LARGE_LIMIT

  /** Charges the shares that this node has reserved; null when the database must be used. */
  function chargeShares(charges: Charge[]): ChargeResult | null {
    const now = performance.now()
    const reserved = charges.map(charge => shares.get(keyOf(charge)))
    if (!reserved.every(share => share !== undefined && share.left > 0 && share.until > now)) return null
    const windows = (reserved as Share[]).map(share => {
      share.left -= 1
      return { ...share.window, used: share.window.used - share.left }
    })
    return { allowed: true, windows }
  }

  async function chargeLarge(tx: Db, charges: Charge[]): Promise<ChargeResult> {
    const amount = Math.floor(Math.min(...charges.map(charge => charge.rate.requests)) / 1000)
    const taken = await chargeWindows(tx, charges, amount)
    // The last few of a large limit are counted one by one.
    if (!taken.allowed) return chargeWindows(tx, charges)
    const until = performance.now() + SHARE_TTL_MS
    if (shares.size > 10_000) shares.clear()
    for (const [n, window] of taken.windows.entries())
      shares.set(keyOf(charges[n] as Charge), { left: amount - 1, until, window })
    return {
      allowed: true,
      windows: taken.windows.map(window => ({ ...window, used: window.used - amount + 1 })),
    }
  }

  /**
   * While a share is being reserved, other requests wait for it: each reserving its own would use up the
   * limit without requests.
   */
  async function chargeReserved(charges: Charge[]): Promise<ChargeResult> {
    const reserved = chargeShares(charges)
    if (reserved) return reserved
    const key = charges.map(keyOf).join()
    const reserving = reservations.get(key)
    if (reserving) {
      await reserving.catch(() => {})
      return chargeShares(charges) ?? chargeWindows(db, charges)
    }
    const reservation = chargeLarge(db, charges).finally(() => reservations.delete(key))
    reservations.set(key, reservation)
    return reservation
  }

  return {
    async charge(bucket, who, { known = false, db: tx = db } = {}) {
      const charges = chargesOf(rates, bucket, who, known)
      if (charges.length === 0) return { allowed: true, windows: [] }
      try {
        if (!charges.every(isLarge)) return await chargeWindows(tx, charges)
        return tx === db
          ? await chargeReserved(charges)
          : (chargeShares(charges) ?? (await chargeLarge(tx, charges)))
      } catch (error) {
        // The disk is full: reads are admitted although they cannot be counted.
        if (tx === db && isDatabaseFull(error)) return { allowed: true, windows: [] }
        throw error
      }
    },
  }
}
