import { isIPv4, isIPv6 } from 'node:net'

/** `host`: a name in lower case without a dot at its end, or an address without brackets. */
export type Authority = { host: string; port: number; address: boolean }

const SHAPE = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?)\.?)(?::([0-9]{1,5}))?$/i

/**
 * `host:port` as CONNECT and absolute form have it; null for everything that is not exactly that: user and password, escapes, and addresses
 * in any other writing than the usual one, which some resolvers understand. Without a port it is `default_port`; null: a port must be there.
 */
export function parseAuthority(text: string, default_port: number | null): Authority | null {
  const [, six, name, digits] = SHAPE.exec(text) ?? []
  const port = digits === undefined ? default_port : Number(digits)
  if (port === null || port < 1 || port > 65_535) return null
  if (six !== undefined) return isIPv6(six) ? { host: new URL(`http://[${six}]`).hostname.slice(1, -1), port, address: true } : null
  if (name === undefined) return null
  const host = name.toLowerCase()
  if (isIPv4(host)) return { host, port, address: true }
  const labels = host.split('.')
  if (labels.some(label => !/^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) return null
  // "127.1", "0x7f.1", "2130706433": names to us, addresses to others.
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '') ? null : { host, port, address: false }
}

/** As a Host header and a CONNECT line have it. */
export const authorityText = ({ host, port }: Authority, default_port: number | null = null): string =>
  `${host.includes(':') ? `[${host}]` : host}${port === default_port ? '' : `:${port}`}`
