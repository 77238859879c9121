import { BlockList, isIP } from 'node:net'

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

/** All of IPv6 that has been given out for the internet (RFC 4291 §2.4): nobody knows what a network makes of the rest. */
const GLOBAL_V6 = new BlockList()
GLOBAL_V6.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address is one of the public internet. IPv4 inside IPv6 (mapped, compatible, NAT64) is judged as IPv4; what is no address is refused. */
export function addressAllowed(ip: string): boolean {
  const family = isIP(ip)
  if (family === 0 || ip.includes('%')) return false
  if (family === 4) return !CLOSED.check(ip, 'ipv4')
  const inner = embeddedIPv4(ip)
  return inner ? !CLOSED.check(inner, 'ipv4') : GLOBAL_V6.check(ip, 'ipv6') && !CLOSED.check(ip, 'ipv6')
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

/** Whether a host, as a URL names it, is this machine or a private network by what it is called. What a name resolves to is seen when a connection is made. */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return /^(localhost|.*\.localhost|.*\.local|.*\.internal)\.?$/i.test(host) || (isIP(host) !== 0 && !addressAllowed(host))
}
