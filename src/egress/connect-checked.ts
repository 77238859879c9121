import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { onAbort, orAborted } from '../core/abort.ts'
import type { Authority } from './authority.ts'
import { decide } from './decide-request.ts'
import { dial } from './dial.ts'
import { default_caps, type ProxyConfiguration } from './proxy-configuration.ts'
import { RefusedAddressError } from './refused.ts'

/** The egress settings of the service's own requests: the same that the operator sets for sandboxes. */
export type Outgoing = {
  resolve: ProxyConfiguration['resolve']
  allow_private: boolean
  upstream: URL | null
}

type Request = { method: string; secure: boolean; signal: AbortSignal }
/** Connects for one request. */
export type Connect = (authority: Authority, request: Request) => Promise<Socket>

/**
 * Connects to one of the checked addresses, with TLS if requested. Throws Refused when no address is allowed.
 */
export async function connectChecked(
  outgoing: Outgoing,
  authority: Authority,
  request: Request,
): Promise<Socket> {
  const rule = { host: authority.host, port: authority.port }
  const configuration: ProxyConfiguration = {
    ...outgoing,
    rules: async () => [rule],
    gateway: null,
    caps: default_caps,
    onRequestText() {},
    onRefused() {},
  }
  return connectByRules(configuration, authority, request)
}

/** The same by rules. A refusal is reported to them. */
export async function connectByRules(
  configuration: ProxyConfiguration,
  authority: Authority,
  { method, secure, signal }: Request,
): Promise<Socket> {
  const decision = await orAborted(decide(configuration, authority, method), signal)
  if (!decision.ok) {
    const { reason, why } = decision
    if (reason === null) throw new Error(why)
    configuration.onRefused({ host: authority.host, port: authority.port, method, reason, why })
    throw new RefusedAddressError(`address not allowed: ${why}`)
  }
  const plain = await dial(configuration, decision.to, signal)
  if (!secure) return plain
  const socket = connectTls({
    socket: plain,
    ...(!authority.address && { servername: authority.host }),
    host: authority.host,
    ALPNProtocols: ['http/1.1'],
  })
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  socket.once('secureConnect', () => resolve(socket))
  socket.on('error', error => {
    plain.destroy()
    reject(error)
  })
  using _ = onAbort(signal, () => socket.destroy(signal.reason))
  return await promise
}
