import type { EgressRule } from '../contract/organizations/egress.ts'
import type { Mirror } from '../core/network/package-mirrors.ts'

/** `private_address`: set by the operator, so the host may be in a private network. */
export type Rule = EgressRule & { private_address?: true }
type RequestedAddress = { host: string; port: number; method: string }
type Match = { rule: Rule } | { reason: 'not_allowed' | 'method' }

/** Every name and address, on every port; private addresses stay closed. A client cannot set it. */
export const EVERY_HOST: Rule = { host: '*' }

const default_ports = [443, 80]

/**
 * Returns the first of `rules` that allows the request, or why none does. `host` as returned by
 * parseAuthority.
 */
export function findRule(rules: readonly Rule[], target: RequestedAddress): Match {
  const of_host = rules.filter(
    rule =>
      rule === EVERY_HOST || (matchesHost(rule.host, target.host) && matchesPort(rule.port, target.port)),
  )
  const rule = of_host.find(
    ({ methods }) => methods == null || methods.some(method => method === target.method),
  )
  if (rule) return { rule }
  return { reason: of_host.length > 0 ? 'method' : 'not_allowed' }
}

function matchesHost(pattern: string, host: string): boolean {
  return pattern.startsWith('*.')
    ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1
    : host === pattern
}

const matchesPort = (wanted: number | null | undefined, port: number) =>
  wanted == null ? default_ports.includes(port) : wanted === port

/** Rules that make mirrors reachable for every run with egress, even in a private network. */
export const mirrorRules = (mirrors: readonly Mirror[]): Rule[] =>
  mirrors.map(({ url }) => ({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
    private_address: true,
  }))
