import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { NODE_FOLDER } from '../../core/sandbox-environment.ts'
import type { RuntimeFolder } from '../process/runtime-folder.ts'
import { packageSettings } from './package-settings.ts'
import { phpExtensions } from './php-extensions.ts'

/** A path of the host, and where a sandbox sees it, read-only. */
type ShownPath = { host: string; inside: string }

/** Returns the headers that belong to a Node, for compiled addons; null: it has none. */
export function nodeHeaders(node_path: string): string | null {
  const path = join(dirname(dirname(node_path)), 'include/node')
  return existsSync(join(path, 'node_api.h')) ? path : null
}

/**
 * Parts of the host's /etc that programs below /usr need and that contain nothing private to this machine.
 */
const shared_etc = [
  'alternatives',
  'ssl/certs',
  'ssl/openssl.cnf',
  'ld.so.cache',
  'services',
  'protocols',
  'mime.types',
  'fonts',
]
/** Without its settings, which may contain passwords of registries. */
const MAVEN_ETC = ['maven/m2.conf', 'maven/logging']
/** Files of Java without which it does not start. */
const JAVA_ETC = /^java-\d+-openjdk$/

/**
 * Folders inside /usr with settings of the host's programs, such as a global npmrc with the password of a
 * registry.
 */
const HOST_SETTINGS = ['/usr/etc', '/usr/local/etc']

/**
 * Returns the programs of the host, for a sandbox without a root of its own. `node_path` becomes its Node;
 * the folder `empty` covers the settings of the host.
 */
export function systemFiles(node_path: string, empty: string): ShownPath[] {
  const headers = nodeHeaders(node_path)
  return [
    { host: '/usr', inside: '/usr' },
    ...HOST_SETTINGS.flatMap(path => (existsSync(path) ? [{ host: empty, inside: path }] : [])),
    ...systemFolders()
      .filter(path => !isLink(path))
      .map(path => ({ host: path, inside: path })),
    ...[...shared_etc, ...MAVEN_ETC, ...readdirSync('/etc').filter(name => JAVA_ETC.test(name))]
      .map(name => `/etc/${name}`)
      .flatMap(path => (existsSync(path) ? [{ host: path, inside: path }] : [])),
    ...phpExtensions(),
    ...packageSettings(),
    { host: node_path, inside: `${NODE_FOLDER}/bin/node` },
    ...(headers === null ? [] : [{ host: headers, inside: `${NODE_FOLDER}/include/node` }]),
  ]
}

/** Returns the symbolic links into /usr that belong to them. */
export function systemLinks(): { inside: string; target: string }[] {
  return systemFolders()
    .filter(isLink)
    .map(path => ({ inside: path, target: readlinkSync(path) }))
}

/** Returns the service's own files, which every sandbox has. */
export function ownFiles(runtime: RuntimeFolder): ShownPath[] {
  const etc = Object.entries(runtime.etc).map(([name, host]) => ({ host, inside: `/etc/${name}` }))
  return [...etc, { host: runtime.init, inside: '/run/init' }]
}

const isLink = (path: string) => lstatSync(path).isSymbolicLink()

/** /bin, /lib and so on: links into /usr on most systems, folders on others. */
const systemFolders = () =>
  readdirSync('/')
    .filter(name => /^(bin|sbin|lib\d*|libx32)$/.test(name))
    .map(name => `/${name}`)
