import { addressAllowed, addressNeverAllowed, type HostLookup } from '../core/network/public-address.ts'
import { withTimeout } from '../core/timeout.ts'
import { parseAuthority } from './authority.ts'
import type { Outgoing } from './connect-checked.ts'

const LOOKUP_TIMEOUT_MS = 5_000

/**
 * Resolves the host of `url` without connecting. Only a "no such name" of the name server means that there is
 * none: a failing or silent name server proves nothing. With an upstream proxy that resolves names, an
 * unknown name counts as `found`.
 */
export async function lookupHost(
  { resolve, allow_private, upstream }: Outgoing,
  url: string,
  timeout_ms = LOOKUP_TIMEOUT_MS,
): Promise<HostLookup> {
  const authority = parseAuthority(new URL(url).host, 443)
  if (authority === null) return 'unknown'
  try {
    const addresses = authority.address
      ? [authority.host]
      : await withTimeout(resolve(authority.host), timeout_ms, notResolved)
    if (addresses.some(allow_private ? addressNeverAllowed : address => !addressAllowed(address)))
      return 'forbidden'
    return addresses.length > 0 || upstream ? 'found' : 'unknown'
  } catch (error) {
    if (upstream) return 'found'
    return error instanceof Error && 'code' in error && error.code === 'ENOTFOUND' ? 'unknown' : 'unavailable'
  }
}

const notResolved = () => {
  throw new Error('the name was not resolved in time')
}
