import { hash, timingSafeEqual } from 'node:crypto'
import { storedJson } from '../json/stored-json.ts'
import type { Sealer } from '../secrets/sealing.ts'

/** A program that signs a person in by OAuth. It chose its name itself. */
type OAuthClient = { name: string; redirect_uris: string[] }

const context = { organization_id: 0, scope: 'oauth', name: 'client' }

/**
 * Returns the id of a client: its registration, sealed. So nothing is stored for a client, and registrations
 * of strangers fill no table (decisions.md#sign-in-by-oauth).
 */
export function clientId(sealer: Sealer, { name, redirect_uris }: OAuthClient): string {
  const { key_id, sealed } = sealer.seal(context, JSON.stringify([name, redirect_uris]))
  return `${key_id}.${sealed.toString('base64url')}`
}

/** Returns the client of an id, null for an id that this service did not give. */
export function clientOf(sealer: Sealer, id: string): OAuthClient | null {
  const [, key_id = '', sealed = ''] = /^([0-9a-f]{1,64})\.([\w-]+)$/.exec(id) ?? []
  try {
    const opened = sealer.open(context, { key_id, sealed: Buffer.from(sealed, 'base64url') })
    const [name, redirect_uris] = storedJson<[string, string[]]>(opened)
    return { name, redirect_uris }
  } catch {
    return null
  }
}

/**
 * Where Cursor receives the response, at an address of its own kind. Any other kind could run a script in the
 * page that leads there, and another address of a program execute something else.
 */
const PROGRAM = /^cursor:\/\/anysphere\.cursor-[a-z]+\/oauth\/[\w/-]+$/
const LOOPBACK = ['127.0.0.1', '[::1]', 'localhost']

/**
 * `hosts`: where else codes may be sent, over https. Returns why an address is refused; null: it is accepted.
 */
export function redirectRefusal(uri: string, hosts: ReadonlySet<string>): string | null {
  const url = URL.parse(uri)
  if (url === null) return 'must be an absolute address'
  if (url.hash !== '' || uri.includes('#')) return 'must have no fragment'
  if (url.username !== '' || url.password !== '') return 'must contain no credentials'
  if (PROGRAM.test(uri)) return null
  if (url.protocol === 'http:' && isLoopback(url)) return null
  if (url.protocol === 'https:' && hosts.has(url.host)) return null
  if (url.protocol === 'https:')
    return `must be on this computer; the operator can allow ${url.host} in AGENTRUN_OAUTH_REDIRECT_HOSTS`
  return 'must be http on this computer, https on an allowed host, or the address of Cursor'
}

const isLoopback = ({ hostname }: URL) => LOOPBACK.includes(hostname)

/**
 * Returns whether a client registered this address. On this computer the port may be another one, since
 * programs take a free one (RFC 8252, 7.3).
 */
export function isRegistered({ redirect_uris }: OAuthClient, uri: string): boolean {
  return redirect_uris.some(known => known === uri || withoutPort(known) === withoutPort(uri))
}

function withoutPort(uri: string): string {
  const url = URL.parse(uri)
  if (url === null || url.protocol !== 'http:' || !isLoopback(url)) return uri
  url.port = ''
  return url.href
}

/** Returns whether a secret is the one that a client announced by its SHA-256 (PKCE, RFC 7636). */
export function verifies(verifier: string, challenge: string): boolean {
  const [own, announced] = [hash('sha256', verifier, 'base64url'), challenge].map(text => Buffer.from(text))
  return (
    own !== undefined &&
    announced !== undefined &&
    own.length === announced.length &&
    timingSafeEqual(own, announced)
  )
}
