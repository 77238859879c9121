import { networkInterfaces } from 'node:os'
import {
  addressAllowed,
  addressNeverAllowed,
  addressOfNetwork,
  isPrivateHost,
} from '../core/network/public-address.ts'
import { withTimeout } from '../core/timeout.ts'
import { type Authority, authorityText } from './authority.ts'
import { isRegistry } from './presets.ts'
import type { AllowedTarget, Gateway, ProxyConfiguration, Reason } from './proxy-configuration.ts'
import { findRule } from './rules.ts'

type Decision =
  | { ok: true; to: AllowedTarget }
  | { ok: false; status: 403 | 502; reason: Reason | null; why: string }

const refused = (reason: Reason, why: string): Decision => ({ ok: false, status: 403, reason, why })

/**
 * Decides whether a request may go out, and to which addresses. The name is resolved once, after a rule has
 * matched; every address is checked, and only checked ones are connected to. A name that cannot be resolved
 * is not a refusal: `reason` is null then.
 */
export async function decide(
  configuration: ProxyConfiguration,
  target: Authority,
  method: string,
): Promise<Decision> {
  const { host, port } = target
  const { gateway, upstream } = configuration
  if (gateway !== null && isGateway(gateway, target))
    return { ok: true, to: { ...target, way: { kind: 'gateway', socket: gateway.socket } } }
  const at = authorityText(target)
  const rules = await configuration.rules()
  const found = rules === null ? { reason: 'off' as const } : findRule(rules, { host, port, method })
  if ('reason' in found)
    return found.reason === 'method'
      ? refused(
          'method',
          `the rule for ${at} does not allow ${method === 'CONNECT' ? 'tunnels (CONNECT)' : method}`,
        )
      : target.address && !addressAllowed(host)
        ? refused('private_address', `${host} is a private or reserved address`)
        : refused(
            found.reason,
            found.reason === 'off' ? `egress is off, so no rule allows ${at}` : `no rule allows ${at}`,
          )
  const may_be_private = configuration.allow_private || found.rule.private_address === true
  // Private networks often serve a mirror under the registry's own name.
  const allowed = method === 'CONNECT' && isRegistry(host, port) ? isOfNetwork : addressAllowed
  const closed = (address: string) => (may_be_private ? addressNeverAllowed(address) : !allowed(address))
  if (!may_be_private && isPrivateHost(host))
    return refused('private_address', `${host} is a name of a private network`)
  const addresses = await resolveAll(configuration, target)
  const bad = addresses?.find(closed)
  if (bad !== undefined)
    return refused('private_address', `${host} is the private or reserved address ${bad}`)
  if (upstream !== null && !found.rule.private_address)
    return { ok: true, to: { ...target, way: { kind: 'upstream', url: upstream } } }
  return addresses === null || addresses.length === 0
    ? { ok: false, status: 502, reason: null, why: `the name ${host} cannot be resolved` }
    : { ok: true, to: { ...target, way: { kind: 'addresses', addresses } } }
}

/** Whether a request is to the gateway, by the only spelling of its address that programs get. */
export const isGateway = (gateway: Gateway | null, { host, port }: Authority): boolean =>
  host === gateway?.host && port === gateway.port

/** An address in the private network, and not of this machine. */
const isOfNetwork = (ip: string) =>
  addressOfNetwork(ip) &&
  !Object.values(networkInterfaces())
    .flat()
    .some(own => own?.address === ip)

/** Null: it cannot be resolved here. */
async function resolveAll(
  configuration: ProxyConfiguration,
  { host, address }: Authority,
): Promise<string[] | null> {
  if (address) return [host]
  return withTimeout(configuration.resolve(host), configuration.caps.wait_ms, () => null).catch(() => null)
}
