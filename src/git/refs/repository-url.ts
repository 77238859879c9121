import { isIP } from 'node:net'
import { posix } from 'node:path'
import { isPrivateHost } from '../../core/network/public-address.ts'
import type { RepositoryKind } from '../../core/repositories/repository-kind.ts'

export type RepositoryUrlPolicy = {
  /** Absolute paths: a local repository is allowed when it is one of them or below one. */
  local_paths: string[]
  /** Allows http, and private or loopback hosts. */
  allow_private: boolean
}

export type ParsedRepositoryUrl =
  | { ok: true; kind: RepositoryKind; url: string; name: string; full_name: string }
  | { ok: false; reason: string }

const REASONS = {
  empty: 'the address of the repository is empty',
  long: 'the address of the repository is longer than 2,000 characters',
  control: 'the address must not contain control characters, spaces at its ends or backslashes',
  option: 'the address, its host and its path must not start with “-”',
  scheme: 'only https://, ssh:// (or user@host:path) and local paths allowed by the operator can be used',
  userinfo: 'the address must not contain a user name or a password',
  password: 'the address must not contain a password',
  query: 'the address must not contain a query or a fragment',
  host: 'the host of the address is not valid',
  path: 'the address does not name a repository',
  private: 'private and loopback addresses must be allowed by the operator',
  http: 'http:// must be allowed by the operator; use https://',
  local: 'this local path is not one of those that the operator allows',
} as const

/**
 * Parses the address of a repository as a user enters it, or returns why it cannot be used. Pure: names are
 * resolved later, when a connection is opened.
 */
export function parseRepositoryUrl(text: string, policy: RepositoryUrlPolicy): ParsedRepositoryUrl {
  if (text === '') return no('empty')
  if (text.length > 2_000) return no('long')
  if (hasControl(text) || text !== text.trim() || text.includes('\\')) return no('control')
  if (text.startsWith('-')) return no('option')
  if (text.startsWith('/')) return local(text, policy)
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'file') return fileUrl(text, policy)
  if (scheme === 'https' || scheme === 'http') return web(text, scheme, policy)
  if (scheme === 'ssh') return ssh(text, policy)
  if (scheme || text.includes('::')) return no('scheme')
  return scpLike(text, policy)
}

function web(text: string, scheme: 'https' | 'http', policy: RepositoryUrlPolicy): ParsedRepositoryUrl {
  const url = URL.parse(text)
  if (!url?.hostname) return no('host')
  if (scheme === 'http' && !policy.allow_private) return no('http')
  if (url.username || url.password || authority(text).includes('@')) return no('userinfo')
  if (/[?#]/.test(text)) return no('query')
  const path = decoded(url.pathname)
  if (path === null) return no('control')
  const trouble = hostTrouble(url.hostname, policy) ?? pathTrouble(path)
  return trouble
    ? no(trouble)
    : {
        ok: true,
        kind: scheme,
        url: `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`,
        ...names(path),
      }
}

function ssh(text: string, policy: RepositoryUrlPolicy): ParsedRepositoryUrl {
  const url = URL.parse(text)
  if (!url?.hostname) return no('host')
  if (url.password || authority(text).split('@').length > 2) return no('password')
  if (/[?#]/.test(text)) return no('query')
  const path = decoded(url.pathname)
  if (path === null) return no('control')
  if (url.username && !USER.test(url.username)) return no('userinfo')
  const trouble = hostTrouble(url.hostname, policy) ?? pathTrouble(path)
  return trouble
    ? no(trouble)
    : { ok: true, kind: 'ssh', url: text.replace(/(?<!\/)\/+$/, ''), ...names(path) }
}

function scpLike(text: string, policy: RepositoryUrlPolicy): ParsedRepositoryUrl {
  const [, user, host, path] = /^([^@:/]+)@([^@:/[\]]+):([^:].*)$/.exec(text) ?? []
  if (!user || !host || !path) return no('scheme')
  if (!USER.test(user)) return no('userinfo')
  const trouble = hostTrouble(host, policy) ?? pathTrouble(path)
  return trouble
    ? no(trouble)
    : { ok: true, kind: 'ssh', url: text.replace(/(?<!\/)\/+$/, ''), ...names(path) }
}

function fileUrl(text: string, policy: RepositoryUrlPolicy): ParsedRepositoryUrl {
  const url = URL.parse(text)
  if (!url || (url.hostname !== '' && url.hostname !== 'localhost')) return no('host')
  if (/[?#]/.test(text)) return no('query')
  const path = decoded(url.pathname)
  return path === null ? no('control') : local(path, policy)
}

function local(text: string, policy: RepositoryUrlPolicy): ParsedRepositoryUrl {
  const path = posix.resolve(text)
  const allowed = policy.local_paths.some(prefix => {
    const top = posix.resolve(prefix)
    return path === top || path.startsWith(top === '/' ? '/' : `${top}/`)
  })
  if (!allowed) return no('local')
  return path === '/' ? no('path') : { ok: true, kind: 'local', url: path, ...names(path) }
}

const USER = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/
const HOST_NAME = /^(?!-)[A-Za-z0-9._-]{1,253}$/

function hostTrouble(hostname: string, policy: RepositoryUrlPolicy): keyof typeof REASONS | null {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (host.startsWith('-')) return 'option'
  if (isIP(host) === 0 && !HOST_NAME.test(host)) return 'host'
  return !policy.allow_private && isPrivateHost(host) ? 'private' : null
}

function pathTrouble(path: string): keyof typeof REASONS | null {
  const parts = path.split('/').filter(Boolean)
  if (parts.length === 0 || parts.every(part => /^\.*$/.test(part)) || parts.at(-1) === '.git') return 'path'
  return path.replace(/^\/+/, '').startsWith('-') ? 'option' : null
}

/** Returns name `app` and full name `acme/app` for `acme/app.git`; a path of one part is both. */
function names(path: string): { name: string; full_name: string } {
  const parts = path.split('/').filter(part => part !== '' && part !== '~')
  if (parts.at(-1) === '.git') parts.pop()
  const name = (parts.at(-1) ?? '').replace(/(.)\.git$/, '$1')
  const owner = parts.at(-2)
  return { name, full_name: owner ? `${owner}/${name}` : name }
}

function authority(text: string): string {
  return text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? ''
}

function decoded(path: string): string | null {
  try {
    const plain = decodeURIComponent(path)
    return hasControl(plain) || plain.includes('\\') ? null : plain
  } catch {
    return null
  }
}

function hasControl(text: string): boolean {
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/.test(text)
}

function no(reason: keyof typeof REASONS): { ok: false; reason: string } {
  return { ok: false, reason: REASONS[reason] }
}
