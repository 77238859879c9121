/**
 * Registries that an operator can mirror; package managers find the mirror through their environment
 * variables.
 */
export const mirror_kinds = ['npm', 'pypi', 'golang', 'rubygems'] as const
export type Mirror = { kind: (typeof mirror_kinds)[number]; url: URL }

const LOOPBACK = /^(?:localhost|.*\.localhost|127\..*|\[::1\])$/

/**
 * Parses `npm=https://…`. Returns null for anything else, including a URL with a user and a loopback address
 * of this machine.
 */
export function readMirror(text: string): Mirror | null {
  const [, name, address = ''] = /^([a-z]+)=(https?:\/\/[^\s,@]+)$/.exec(text) ?? []
  const kind = mirror_kinds.find(known => known === name)
  if (kind === undefined || !URL.canParse(address)) return null
  const url = new URL(address)
  return LOOPBACK.test(url.hostname) ? null : { kind, url }
}

/**
 * Returns the egress mode of a run for which nobody has set one: an operator who configures mirrors wants
 * them to be used.
 */
export const defaultMode = (mirrors: readonly Mirror[]) => (mirrors.length > 0 ? 'allowlist' : 'off')

/** Returns the environment variables through which the package managers of a registry find its mirror. */
export function mirrorVariables({ kind, url }: Mirror): Record<string, string> {
  const text = url.href
  if (kind === 'npm')
    return {
      npm_config_registry: text,
      YARN_NPM_REGISTRY_SERVER: text.replace(/\/$/, ''),
      ...(url.protocol === 'http:' && { YARN_UNSAFE_HTTP_WHITELIST: url.hostname }),
    }
  if (kind === 'pypi')
    return {
      PIP_INDEX_URL: text,
      UV_DEFAULT_INDEX: text,
      ...(url.protocol === 'http:' && { PIP_TRUSTED_HOST: url.host, UV_INSECURE_HOST: url.host }),
    }
  return kind === 'golang' ? { GOPROXY: text } : { BUNDLE_MIRROR__ALL: text }
}
