import type { EgressRule } from '../contract/organizations/egress.ts'
import type { EgressPreset } from '../contract/organizations/egress-presets.ts'

/** HTTPS only; a tunnel shows no method. */
const secure = (...hosts: string[]): EgressRule[] => hosts.map(host => ({ host, port: 443 }))
/** Signed packages: over HTTPS, or over plain HTTP when they are only read. */
const signed = (...hosts: string[]): EgressRule[] =>
  hosts.flatMap(host => [...secure(host), { host, port: 80, methods: ['GET', 'HEAD'] }])

/**
 * The hosts of each registry that installing from it needs. Hosts where anybody can upload, such as code
 * hosting, are not included.
 */
export const presets: Record<EgressPreset, EgressRule[]> = {
  npm: secure('registry.npmjs.org', 'registry.yarnpkg.com'),
  pypi: secure('pypi.org', 'files.pythonhosted.org'),
  crates: secure('index.crates.io', 'static.crates.io', 'crates.io'),
  golang: secure('proxy.golang.org', 'sum.golang.org'),
  maven: secure('repo1.maven.org', 'repo.maven.apache.org'),
  gradle: secure(
    'plugins.gradle.org',
    'plugins-artifacts.gradle.org',
    'services.gradle.org',
    'downloads.gradle.org',
  ),
  rubygems: secure('rubygems.org', 'index.rubygems.org'),
  packagist: secure('repo.packagist.org', 'packagist.org'),
  nuget: secure('api.nuget.org'),
  hex: secure('repo.hex.pm', 'builds.hex.pm'),
  pub: secure('pub.dev'),
  conda: secure('conda.anaconda.org', 'repo.anaconda.com'),
  debian: signed('deb.debian.org', 'security.debian.org'),
  ubuntu: signed('archive.ubuntu.com', 'security.ubuntu.com', 'ports.ubuntu.com'),
  alpine: signed('dl-cdn.alpinelinux.org'),
}

/**
 * Registries that are reached over TLS, by a name that only its owner and the name servers of this network
 * can resolve.
 */
const over_tls = new Set(
  Object.values(presets)
    .flat()
    .flatMap(({ host, port }) => (port === 443 ? [host] : [])),
)
export const isRegistry = (host: string, port: number) => port === 443 && over_tls.has(host)
