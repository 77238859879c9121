import { isIPv4, isIPv6 } from 'node:net'

/** `host`: a lower-case name without a trailing dot, or an address without brackets. */
export type Authority = { host: string; port: number; address: boolean }

const SHAPE = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?)\.?)(?::([0-9]{1,5}))?$/i

/**
 * Parses `host:port` as in CONNECT and in the absolute form. Returns null for anything else: user and
 * password, escapes, and addresses in non-canonical notation, which some resolvers understand. A missing port
 * becomes `default_port`; with null the port is required.
 */
export function parseAuthority(text: string, default_port: number | null): Authority | null {
  const [, six, name, digits] = SHAPE.exec(text) ?? []
  const port = digits === undefined ? default_port : Number(digits)
  if (port === null || port < 1 || port > 65_535) return null
  if (six !== undefined)
    return isIPv6(six)
      ? { host: new URL(`http://[${six}]`).hostname.slice(1, -1), port, address: true }
      : null
  if (name === undefined) return null
  const host = name.toLowerCase()
  if (isIPv4(host)) return { host, port, address: true }
  const labels = host.split('.')
  if (labels.some(label => !/^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) return null
  // "127.1", "0x7f.1", "2130706433": names to this parser, addresses to some resolvers.
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '') ? null : { host, port, address: false }
}

/** Formats an authority as in a Host header and a CONNECT line. */
export const authorityText = ({ host, port }: Authority, default_port: number | null = null): string =>
  `${host.includes(':') ? `[${host}]` : host}${port === default_port ? '' : `:${port}`}`
