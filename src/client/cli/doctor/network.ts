import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { deadline } from '../../../core/deadline.ts'
import { broken, CHECK_TIMEOUT_MS, type Finding, ok, type Patient, warning } from './check.ts'

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Checks the name, port and certificate of the service, each of which needs the one before. */
export async function checkNetwork({ settings, signal }: Patient): Promise<Finding[]> {
  const { base_url, url_from, token } = settings
  const url = new URL(base_url)
  const findings = [ok('address', `${base_url} (${url_from})`)]
  if (url.protocol === 'http:' && !loopback.test(url.hostname) && token !== null)
    findings.push(
      warning(
        'address',
        'the token goes over the network in clear text',
        'put the service behind https, and use that address',
      ),
    )

  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) === 0) {
    const found = await lookup(host).catch(error => error as Error)
    if (found instanceof Error)
      return [
        ...findings,
        broken(
          'name',
          `${host} is not known here`,
          'check the spelling of the address (--url, AGENTRUN_URL), and the DNS of this machine',
        ),
      ]
    findings.push(ok('name', `${host} is ${found.address}`))
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  using limit = deadline(CHECK_TIMEOUT_MS, signal)
  const refused = await reaches(host, port, url.protocol === 'https:', limit.signal)
  return [
    ...findings,
    refused ??
      ok('connection', `${host} port ${port}${url.protocol === 'https:' ? ', certificate valid' : ''}`),
  ]
}

/** Null when a connection is possible. */
async function reaches(
  host: string,
  port: number,
  tls: boolean,
  signal: AbortSignal,
): Promise<Finding | null> {
  const socket = tls
    ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) })
    : connect({ host, port })
  try {
    await once(socket, tls ? 'secureConnect' : 'connect', { signal })
    return null
  } catch (error) {
    return explained(error as Error & { code?: string }, host, port)
  } finally {
    socket.destroy()
  }
}

function explained(
  { code = '', message, name }: Error & { code?: string },
  host: string,
  port: number,
): Finding {
  const where = `${host} port ${port}`
  if (code === 'ECONNREFUSED')
    return broken(
      'connection',
      `nothing listens at ${where}`,
      'start the service (npm start in its clone), or give its address by --url',
    )
  if (
    name === 'AbortError' ||
    name === 'TimeoutError' ||
    code === 'ETIMEDOUT' ||
    code === 'EHOSTUNREACH' ||
    code === 'ENETUNREACH'
  )
    return broken(
      'connection',
      `${where} does not respond (${code || 'no response in 10 s'})`,
      'check the network, a firewall in between, and that the service listens on that interface (AGENTRUN_HOST)',
    )
  if (/CERT|TLS|SSL|SELF_SIGNED|VERIFY|ALTNAME/.test(code))
    return broken(
      'certificate',
      `the certificate of ${where} is refused: ${message}`,
      'renew it or use the name it is issued for; for an authority of your own set NODE_EXTRA_CA_CERTS to its file',
    )
  return broken('connection', `${where}: ${message}`, 'check the address and the network')
}
