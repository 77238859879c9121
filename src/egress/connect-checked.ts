import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { orAborted } from '../core/abort.ts'
import type { Authority } from './authority.ts'
import { decide } from './decide-request.ts'
import { dial } from './dial.ts'
import { default_caps, type ProxyConfiguration } from './proxy-configuration.ts'

/** The egress settings of the service's own requests: the same that the operator sets for sandboxes. */
export type Outgoing = {
  resolve: ProxyConfiguration['resolve']
  allow_private: boolean
  upstream: URL | null
}

/** The address is not allowed; a retry has the same result. */
export class Refused extends Error {}

/** Connects to one of the checked addresses, with TLS if requested. Throws Refused when no address is allowed. */
export async function connectChecked(
  outgoing: Outgoing,
  authority: Authority,
  { method, secure, signal }: { method: string; secure: boolean; signal: AbortSignal },
): Promise<Socket> {
  const rule = { host: authority.host, port: authority.port }
  const configuration: ProxyConfiguration = {
    ...outgoing,
    rules: async () => [rule],
    caps: default_caps,
    onRequestText() {},
    onRefused() {},
  }
  const decision = await orAborted(decide(configuration, authority, method), signal)
  if (!decision.ok) throw decision.reason === null ? new Error(decision.why) : new Refused(`address not allowed: ${decision.why}`)
  const dialled = dial(configuration, decision.to)
  // A connection that opens too late is closed.
  const plain = await orAborted(dialled, signal).catch((error: unknown) => {
    dialled.then(
      socket => socket.destroy(),
      () => {},
    )
    throw error
  })
  if (!secure) return plain
  const socket = connectTls({
    socket: plain,
    ...(!authority.address && { servername: authority.host }),
    host: authority.host,
    ALPNProtocols: ['http/1.1'],
  })
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      socket.destroy()
      plain.destroy()
      reject(error)
    }
    socket.once('secureConnect', () => resolve(socket))
    socket.on('error', fail)
    signal.addEventListener('abort', fail, { once: true })
  })
}
