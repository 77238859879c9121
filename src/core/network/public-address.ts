import { BlockList, isIP } from 'node:net'

/** Every range that IANA does not list as globally reachable, including multicast. */
const CLOSED = listOf(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
  '::/127 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8',
)

/**
 * Link-local, unspecified and multicast ranges; and the metadata services of clouds, which hand out keys:
 * Azure, Alibaba, Oracle, AWS, Google and Scaleway.
 */
const NEVER = listOf(
  '0.0.0.0/8 169.254.0.0/16 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32 100.100.100.200/32 192.0.0.192/32',
  '::/128 fe80::/10 ff00::/8 fd00:ec2::/32 fd20:ce::/32 fd00:42::/32',
)

/** All of IPv6 that is allocated for the internet (RFC 4291 §2.4): networks may use the rest in any way. */
const GLOBAL_V6 = listOf('', '2000::/3')

/** The machine itself. */
const OWN = listOf('0.0.0.0/8 127.0.0.0/8', '::/127')

function listOf(v4: string, v6: string): BlockList {
  const list = new BlockList()
  for (const [ranges, family] of [
    [v4, 'ipv4'],
    [v6, 'ipv6'],
  ] as const) {
    for (const range of ranges.split(' ').filter(Boolean)) {
      const [net = '', bits] = range.split('/')
      list.addSubnet(net, Number(bits), family)
    }
  }
  return list
}

const inList = (list: BlockList, ip: string) => list.check(ip, isIP(ip) === 4 ? 'ipv4' : 'ipv6')

/**
 * The result of resolving a host: it has addresses, it has none, one of them is not allowed, or the name
 * server did not respond.
 */
export type HostLookup = 'found' | 'unknown' | 'forbidden' | 'unavailable'

/**
 * Returns whether an IP address is on the public internet. IPv4 inside IPv6 (mapped, compatible, NAT64) is
 * treated as IPv4; an invalid address is refused.
 */
export function addressAllowed(ip: string): boolean {
  if (isIP(ip) === 0 || ip.includes('%') || addressNeverAllowed(ip)) return false
  if (isIP(ip) === 4) return !inList(CLOSED, ip)
  const inner = embeddedIPv4(ip)
  return inner ? !inList(CLOSED, inner) : inList(GLOBAL_V6, ip) && !inList(CLOSED, ip)
}

/**
 * Returns whether an address is closed regardless of the operator's settings. An invalid address is not; an
 * address embedded in another, also by a network's own NAT64 or 6to4, is checked too.
 */
export function addressNeverAllowed(ip: string): boolean {
  if (isIP(ip) === 0 || inList(NEVER, ip)) return true
  if (isIP(ip) === 4) return false
  const inner = [embeddedIPv4(ip), ...carriedIPv4(ip)]
  return inner.some(address => address !== null && inList(NEVER, address))
}

/**
 * Returns whether an address may belong to a network's own mirror of something public: neither this machine
 * nor a range that is never allowed.
 */
export function addressOfNetwork(ip: string): boolean {
  if (addressNeverAllowed(ip) || inList(OWN, ip)) return false
  return (
    isIP(ip) === 4 ||
    [embeddedIPv4(ip), ...carriedIPv4(ip)].every(inner => inner === null || !inList(OWN, inner))
  )
}

/** `::ffff:a.b.c.d`, `::a.b.c.d` and `64:ff9b::a.b.c.d` → `a.b.c.d`; otherwise null. */
function embeddedIPv4(ip: string): string | null {
  const parts =
    /^(?:::ffff:|64:ff9b::|::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain(ip)) ??
    /^64:ff9b::()([0-9a-f]{1,4})$/.exec(plain(ip))
  return parts ? fromHalves(parts[1], parts[2]) : null
}

/**
 * Returns the IPv4 addresses that a network may route for its own NAT64 (64:ff9b:1::/48, ::ffff:0:0:0/96) and
 * for 6to4 (2002::/16).
 */
function carriedIPv4(ip: string): string[] {
  const [, first, second] = /^2002:([0-9a-f]{0,4}):([0-9a-f]{0,4})/.exec(plain(ip)) ?? []
  const [, high, low] = /^(?:64:ff9b:1:.*|::ffff:0):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(plain(ip)) ?? []
  return [
    ...(first === undefined ? [] : [fromHalves(first, second)]),
    ...(high === undefined ? [] : [fromHalves(high, low)]),
  ]
}

const plain = (ip: string) => new URL(`http://[${ip.replace(/%.*/, '')}]`).hostname.slice(1, -1)

function fromHalves(first = '', second = ''): string {
  const [high, low] = [first, second].map(word => Number.parseInt(word || '0', 16)) as [number, number]
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`
}

/**
 * Returns whether the host of a URL is by its name this machine or a private network. The addresses of a name
 * are checked when a connection is opened.
 */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return (
    /^(localhost|.*\.localhost|.*\.local|.*\.internal)\.?$/i.test(host) ||
    (isIP(host) !== 0 && !addressAllowed(host))
  )
}
