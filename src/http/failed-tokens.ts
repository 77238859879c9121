import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Rate } from '../core/access/rate-window.ts'
import { ServiceError } from '../core/service-error.ts'
import { UnknownToken } from '../service/access/authenticate.ts'
import { UnknownSender } from '../service/forges/receive-delivery.ts'

const max_addresses = 10_000
const SMALL_BYTES = 1024 * 1024

export type FailedTokens = ReturnType<typeof failedTokens>

/**
 * Counts unknown tokens and signatures by address, on this node: guessing is slowed down, and a valid token
 * from the same address still passes.
 */
export function failedTokens(rate: Rate) {
  const failures = new Map<string, { count: number; until: number }>()
  return {
    /**
     * Refuses a large body from an address with too many unknown tokens or signatures with 429. A small one
     * is cheap to verify, and a forge whose address somebody else uses too can still deliver.
     */
    requireSmallBody({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): void {
      const known = failures.get(network(ip))
      if (
        rate === null ||
        known === undefined ||
        known.until <= performance.now() ||
        known.count <= rate.requests
      )
        return
      const bytes =
        headers['transfer-encoding'] === undefined
          ? Number(headers['content-length'] ?? 0)
          : Number.POSITIVE_INFINITY
      if (!(bytes <= SMALL_BYTES)) throw tooMany(known.until)
    },
    /**
     * Returns the error to respond with: the given one, or 429 when too many unknown tokens came from this
     * address.
     */
    refuse(address: string, error: unknown): unknown {
      if (rate === null || !(error instanceof UnknownToken || error instanceof UnknownSender)) return error
      const now = performance.now()
      const key = network(address)
      const known = failures.get(key)
      if (known === undefined || known.until <= now) {
        if (failures.size >= max_addresses)
          for (const [old, { until }] of failures) if (until <= now) failures.delete(old)
        if (failures.size >= max_addresses) failures.clear()
        failures.set(key, { count: 1, until: now + rate.seconds * 1000 })
        return error
      }
      known.count += 1
      if (known.count <= rate.requests) return error
      return tooMany(known.until)
    },
  }
}

function tooMany(until: number): ServiceError {
  const seconds = Math.ceil((until - performance.now()) / 1000)
  return new ServiceError(
    'rate_limited',
    `Too many invalid tokens or signatures from your address. Try again in ${seconds} s.`,
    {
      headers: { 'retry-after': String(seconds) },
    },
  )
}

/** A client with one IPv6 address typically has 2^64 of them. */
function network(address: string): string {
  return isIPv6(address) && !address.startsWith('::ffff:')
    ? address.split(':').slice(0, 4).join(':')
    : address
}
