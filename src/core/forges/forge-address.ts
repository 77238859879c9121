import { isPrivateHost } from '../network/public-address.ts'
import type { RepositoryKind } from '../repositories/repository-kind.ts'

/** A repository as the API of its forge identifies it. */
export type ForgeRepository = { owner: string; name: string }

const PART = /^(?!\.+$)[A-Za-z0-9._-]{1,100}$/

const partsOf = (path: string) => path.split('/').filter(part => part !== '')

/**
 * Returns the repository at an address as the forge at `forge_url` identifies it; null: it is not on that
 * forge. Over the web its address is below that of the forge, over ssh it is on the same host. An address
 * that is not `owner/name`, or is a local path, is not a repository of a forge.
 */
export function repositoryOn(
  forge_url: string,
  { url, kind }: { url: string; kind: RepositoryKind },
): ForgeRepository | null {
  if (kind === 'local') return null
  const forge = new URL(forge_url)
  const scp = kind === 'ssh' && !url.includes('://') ? /^[^@:/]+@([^:/]+):(.*)$/.exec(url) : null
  const parsed = scp ? null : URL.parse(url)
  const host = scp?.[1] ?? parsed?.hostname
  if (!host || (kind === 'ssh' ? host.toLowerCase() !== forge.hostname : parsed?.origin !== forge.origin))
    return null
  const parts = partsOf(scp?.[2] ?? parsed?.pathname ?? '')
  const before = kind === 'ssh' ? [] : partsOf(forge.pathname)
  if (parts.length !== before.length + 2 || before.some((part, i) => parts[i] !== part)) return null
  const [owner = '', last = ''] = parts.slice(before.length)
  const name = last.replace(/\.git$/, '')
  return PART.test(owner) && PART.test(name) ? { owner, name } : null
}

/**
 * Normalizes the address of a forge, or returns why it is invalid. `path`: whether the address may have a
 * path.
 */
export function forgeUrl(
  text: string,
  { allow_private, path }: { allow_private: boolean; path: boolean },
): { ok: true; url: string } | { ok: false; reason: 'url' | 'https' | 'path' | 'private' } {
  const url = URL.parse(text)
  if (
    url === null ||
    !['https:', 'http:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  )
    return { ok: false, reason: 'url' }
  const parts = partsOf(url.pathname)
  if (
    url.search !== '' ||
    url.hash !== '' ||
    (parts.length > 0 && !path) ||
    !parts.every(part => PART.test(part))
  )
    return { ok: false, reason: 'path' }
  if (url.protocol === 'http:' && !allow_private) return { ok: false, reason: 'https' }
  if (!allow_private && isPrivateHost(url.hostname)) return { ok: false, reason: 'private' }
  return { ok: true, url: [url.origin, ...parts].join('/') }
}
