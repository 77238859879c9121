import { isIPv6 } from 'node:net'
import type { Rate } from '../core/access/rate-window.ts'
import { ServiceError } from '../core/service-error.ts'
import { UnknownToken } from '../service/access/authenticate.ts'

const max_addresses = 10_000

export type FailedTokens = ReturnType<typeof failedTokens>

/** Counts unknown tokens by address, on this node: guessing is slowed down, and a valid token from the same address still passes. */
export function failedTokens(rate: Rate) {
  const failures = new Map<string, { count: number; until: number }>()
  return {
    /** Returns the error to respond with: the given one, or 429 when too many unknown tokens came from this address. */
    refuse(address: string, error: unknown): unknown {
      if (rate === null || !(error instanceof UnknownToken)) return error
      const now = performance.now()
      const key = network(address)
      const known = failures.get(key)
      if (known === undefined || known.until <= now) {
        if (failures.size >= max_addresses) for (const [old, { until }] of failures) if (until <= now) failures.delete(old)
        if (failures.size >= max_addresses) failures.clear()
        failures.set(key, { count: 1, until: now + rate.seconds * 1000 })
        return error
      }
      known.count += 1
      if (known.count <= rate.requests) return error
      const seconds = Math.ceil((known.until - now) / 1000)
      return new ServiceError('rate_limited', `Too many invalid tokens from your address. Try again in ${seconds} s.`, {
        headers: { 'retry-after': String(seconds) },
      })
    },
  }
}

/** A client with one IPv6 address typically has 2^64 of them. */
function network(address: string): string {
  return isIPv6(address) && !address.startsWith('::ffff:') ? address.split(':').slice(0, 4).join(':') : address
}
