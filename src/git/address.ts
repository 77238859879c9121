import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { GitError } from './git-error.ts'

/** Everything that IANA does not call globally reachable, multicast included. */
const CLOSED = new BlockList()
const CLOSED_V4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
const CLOSED_V6 =
  '::/127 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8'
for (const [list, family] of [
  [CLOSED_V4, 'ipv4'],
  [CLOSED_V6, 'ipv6'],
] as const) {
  for (const range of list.split(' ')) {
    const [net = '', bits] = range.split('/')
    CLOSED.addSubnet(net, Number(bits), family)
  }
}

/** Whether an IP address is one of the public internet. IPv4 inside IPv6 (mapped, compatible, NAT64) is judged as IPv4; what is no address is refused. */
export function addressAllowed(ip: string): boolean {
  const family = isIP(ip)
  if (family === 0 || ip.includes('%')) return false
  if (family === 4) return !CLOSED.check(ip, 'ipv4')
  const inner = embeddedIPv4(ip)
  return inner ? !CLOSED.check(inner, 'ipv4') : !CLOSED.check(ip, 'ipv6')
}

/** `::ffff:a.b.c.d`, `::a.b.c.d` and `64:ff9b::a.b.c.d` → `a.b.c.d`; otherwise null. */
function embeddedIPv4(ip: string): string | null {
  const plain = new URL(`http://[${ip}]`).hostname.slice(1, -1)
  const parts = /^(?:::ffff:|64:ff9b::|::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain) ?? /^64:ff9b::()([0-9a-f]{1,4})$/.exec(plain)
  if (!parts) return null
  const high = Number.parseInt(parts[1] || '0', 16)
  const low = Number.parseInt(parts[2] || '0', 16)
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/**
 * Resolves a host once and gives the addresses that a connection may use. One private address among them refuses the host.
 * GitError `unreachable` when there is none or the name cannot be resolved, `timeout` after `timeout_ms`.
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
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new GitError('timeout', `the name ${host} was not resolved within ${timeout_ms} ms`)), timeout_ms)
  try {
    const found = await Promise.race([lookup(host, { all: true }), promise])
    return found.map(entry => entry.address)
  } catch (error) {
    if (error instanceof GitError) throw error
    throw new GitError('unreachable', `the name ${host} cannot be resolved`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}
