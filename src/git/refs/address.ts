import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { addressAllowed } from '../../core/network/public-address.ts'
import { withTimeout } from '../../core/timeout.ts'
import { GitError } from '../process/git-error.ts'

/**
 * Resolves a host once and returns the addresses that a connection may use. One private address among them
 * refuses the host. GitError `unreachable` when there is none or the name cannot be resolved, `timeout` after
 * `timeout_ms`.
 */
export async function publicAddresses(host: string, timeout_ms: number): Promise<string[]> {
  const bare = host.replace(/^\[|\]$/g, '')
  const found = isIP(bare) ? [bare] : await resolve(bare, timeout_ms)
  const closed = found.find(address => !addressAllowed(address))
  if (closed)
    throw new GitError(
      'unreachable',
      `${host} is a private or reserved address (${closed}); private git servers must be allowed by the operator`,
    )
  return found
}

async function resolve(host: string, timeout_ms: number): Promise<string[]> {
  const onTimeout = () => {
    throw new GitError('timeout', `the name ${host} was not resolved within ${timeout_ms} ms`)
  }
  try {
    const found = await withTimeout(lookup(host, { all: true }), timeout_ms, onTimeout)
    return found.map(entry => entry.address)
  } catch (error) {
    if (error instanceof GitError) throw error
    throw new GitError('unreachable', `the name ${host} cannot be resolved`, { cause: error })
  }
}
