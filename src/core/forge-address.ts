import { isPrivateHost } from './public-address.ts'

/** A repository as the API of its forge names it. */
export type ForgeRepository = { owner: string; name: string }

/** Where a repository is, by its address: on which host (with its port, if it is not the usual one of the web), and for the web at which origin. */
export type ForgePlace = ForgeRepository & { host: string; origin: string | null }

const PART = /^(?!\.+$)[A-Za-z0-9._-]{1,100}$/

/** Null for what no forge keeps: local paths, and paths that are not `owner/name`. */
export function forgePlace({ url, kind }: { url: string; kind: 'https' | 'http' | 'ssh' | 'local' }): ForgePlace | null {
  if (kind === 'local') return null
  const scp = kind === 'ssh' && !url.includes('://') ? /^[^@:/]+@([^:/]+):(.*)$/.exec(url) : null
  const parsed = scp ? null : URL.parse(url)
  const host = scp?.[1] ?? (kind === 'ssh' ? parsed?.hostname : parsed?.host)
  const parts = (scp?.[2] ?? parsed?.pathname ?? '').split('/').filter(part => part !== '')
  const [owner = '', last = ''] = parts
  const name = last.replace(/\.git$/, '')
  if (!host || parts.length !== 2 || !PART.test(owner) || !PART.test(name)) return null
  return { host: host.toLowerCase(), origin: kind === 'ssh' ? null : (parsed?.origin ?? null), owner, name }
}

/** The origin of a forge as somebody gives its address, or why it cannot be one. */
export function forgeOrigin(
  text: string,
  allow_private: boolean,
): { ok: true; origin: string } | { ok: false; reason: 'url' | 'https' | 'path' | 'private' } {
  const url = URL.parse(text)
  if (url === null || !['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== '')
    return { ok: false, reason: 'url' }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return { ok: false, reason: 'path' }
  if (url.protocol === 'http:' && !allow_private) return { ok: false, reason: 'https' }
  if (!allow_private && isPrivateHost(url.hostname)) return { ok: false, reason: 'private' }
  return { ok: true, origin: url.origin }
}
