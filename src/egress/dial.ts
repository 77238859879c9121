import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { orAborted } from '../core/abort.ts'
import { authorityText } from './authority.ts'
import type { AllowedTarget, ProxyConfiguration } from './proxy-configuration.ts'

/** A failure to connect to an allowed host; not a refusal. */
export class DialError extends Error {
  override name = 'DialError'
}

/**
 * Connects to one of the checked addresses, to the upstream proxy or to the gateway. Rejects with DialError,
 * or with the reason of `signal`.
 */
export async function dial(
  configuration: ProxyConfiguration,
  to: AllowedTarget,
  signal: AbortSignal,
): Promise<Socket> {
  const dialled = dialAny(configuration, to)
  return orAborted(dialled, signal).catch((error: unknown) => {
    // A connection that opens too late is closed.
    dialled.then(
      socket => socket.destroy(),
      () => {},
    )
    throw error
  })
}

async function dialAny(configuration: ProxyConfiguration, to: AllowedTarget): Promise<Socket> {
  const { way } = to
  if (way.kind === 'upstream') return dialBy(way.url, configuration, to)
  const { port } = to
  const endpoints =
    way.kind === 'gateway'
      ? [{ path: way.socket }]
      : way.addresses.map(host => ({ host, port, noDelay: true }))
  let failure = `${to.host} has no address`
  for (const endpoint of endpoints) {
    const socket = connect({ ...endpoint, allowHalfOpen: true })
    const problem = await opened(socket, configuration.caps.wait_ms)
    if (problem === null) return socket
    failure = `${authorityText(to)} cannot be reached (${problem})`
  }
  throw new DialError(failure)
}

/** Returns null when connected; otherwise the reason, and the socket is closed. */
function opened(socket: Socket, wait_ms: number): Promise<string | null> {
  return new Promise(resolve => {
    const timer = setTimeout(() => socket.destroy(new Error('no response')), wait_ms)
    const settle = (problem: string | null) => {
      clearTimeout(timer)
      resolve(problem)
    }
    socket.once('connect', () => settle(null))
    // Later errors are handled by the caller that uses the socket.
    socket.on('error', error => settle((error as NodeJS.ErrnoException).code ?? error.message))
  })
}

/** Opens a tunnel through the operator's proxy. */
function dialBy(upstream: URL, configuration: ProxyConfiguration, to: AllowedTarget): Promise<Socket> {
  const authority = authorityText(to)
  const sent = request({
    ...endpointOf(upstream),
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...credentialsOf(upstream) },
    timeout: configuration.caps.wait_ms,
  })
  return new Promise((resolve, reject) => {
    const fail = (problem: string) => {
      sent.destroy()
      reject(new DialError(`the proxy of this service did not connect to ${authority} (${problem})`))
    }
    sent.once('connect', (response, socket, head) => {
      if (response.statusCode !== 200) return fail(`it responded with ${response.statusCode}`)
      if (head.length > 0) socket.unshift(head)
      socket.setTimeout(0)
      socket.on('error', () => {})
      resolve(socket)
    })
    sent.once('response', response => fail(`it responded with ${response.statusCode}`))
    sent.once('timeout', () => fail('no response'))
    sent.on('error', error => fail((error as NodeJS.ErrnoException).code ?? error.message))
    sent.end()
  })
}

export const endpointOf = (url: URL) => ({
  host: url.hostname.replace(/^\[|\]$/g, ''),
  port: url.port === '' ? 80 : Number(url.port),
})

/** Returns the credentials of the operator's proxy; they never enter a sandbox. */
export function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '') return {}
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` }
}
