import type { Rule } from '../egress/rules.ts'

/** Where a sandbox finds its proxy; the address that every program there is told. */
export const PROXY_PORT = 3128
export const SOCKET_INSIDE = '/run/egress.sock'

/** Where builds of Java look for options: Java goes by none of the usual variables. */
const OPTIONS_OF_JAVA = ['MAVEN_OPTS', 'GRADLE_OPTS'] as const

/** Registries of which an operator can have a copy that package managers are told of by their variables. */
export const mirror_kinds = ['npm', 'pypi', 'golang', 'rubygems'] as const
export type Mirror = { kind: (typeof mirror_kinds)[number]; url: URL }

const LOOPBACK = /^(?:localhost|.*\.localhost|127\..*|\[::1\])$/

/** `npm=https://…`; null for anything else, a URL with a user and an address of this machine's loopback included. */
export function readMirror(text: string): Mirror | null {
  const [, name, address = ''] = /^([a-z]+)=(https?:\/\/[^\s,@]+)$/.exec(text) ?? []
  const kind = mirror_kinds.find(known => known === name)
  if (kind === undefined || !URL.canParse(address)) return null
  const url = new URL(address)
  return LOOPBACK.test(url.hostname) ? null : { kind, url }
}

/** The variables of a sandbox. `open`: something may be reached; otherwise they are there so that what is tried is refused and told. */
export function egressEnvironment(mirrors: readonly Mirror[], open = true): Record<string, string> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`
  const own = 'localhost,sandbox,127.0.0.1,127.0.0.0/8,0.0.0.0,::1'
  return {
    // What the machine trusts, its programs for TLS trust as they are; Node would not, and an authority of one's own is usual before registries.
    NODE_USE_SYSTEM_CA: '1',
    // Yarn does not ask for the usual ones from its second version on.
    ...{ YARN_HTTP_PROXY: proxy, YARN_HTTPS_PROXY: proxy },
    ...{ http_proxy: proxy, https_proxy: proxy, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, no_proxy: own, NO_PROXY: own },
    ...Object.fromEntries(OPTIONS_OF_JAVA.map(name => [name, JAVA_PROXY])),
    // Node's own fetch asks for them only when it is told to, and every Node then takes twice as long to start.
    ...(open ? { NODE_USE_ENV_PROXY: '1' } : { NODE_OPTIONS: '--require=/run/init/fetch.cjs' }),
    ...Object.assign({}, ...mirrors.map(variablesOf)),
  }
}

/** What is on this machine they ask directly by themselves. */
const JAVA_PROXY = ['http', 'https'].map(scheme => `-D${scheme}.proxyHost=127.0.0.1 -D${scheme}.proxyPort=${PROXY_PORT}`).join(' ')

/** Variables that somebody has set, with those of the way out; options for Java are added to theirs. */
export function withProxyEnv(own: Record<string, string>, way_out: Record<string, string>): Record<string, string> {
  const both = OPTIONS_OF_JAVA.flatMap(name => (own[name] && way_out[name] ? [[name, `${way_out[name]} ${own[name]}`]] : []))
  return { ...own, ...way_out, ...Object.fromEntries(both) }
}

function variablesOf({ kind, url }: Mirror): Record<string, string> {
  const text = url.href
  if (kind === 'npm')
    return {
      ...{ npm_config_registry: text, YARN_NPM_REGISTRY_SERVER: text.replace(/\/$/, '') },
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

/** The mode of a run where nobody has set one: an operator who has mirrors wants them to be used. */
export const usualMode = (mirrors: readonly Mirror[]) => (mirrors.length > 0 ? 'allowlist' : 'off')

/** A mirror may be reached by every run that has a way out, wherever it stands. */
export const mirrorRules = (mirrors: readonly Mirror[]): Rule[] =>
  mirrors.map(({ url }) => ({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
    private_address: true,
  }))
