import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../system/small-clone.ts'

export type Docker = (...args: string[]) => string

/** The command `docker` of an engine; rejects with its whole output. */
export const dockerOf =
  (socket: string): Docker =>
  (...args) =>
    execFileSync('docker', args, {
      encoding: 'utf8',
      env: { ...process.env, DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 ** 2,
    }).trim()

/** A minimal Debian as the slim image is, from Debian's packages, because no image registry is needed for it. */
export function importDebian(docker: Docker, folder: string): void {
  const base = join(folder, 'base')
  execFileSync('debootstrap', ['--variant=minbase', 'bookworm', base, 'http://deb.debian.org/debian'], { stdio: ['ignore', 'ignore', 2] })
  for (const path of ['doc', 'man', 'locale', 'info', 'lintian']) rmSync(join(base, 'usr/share', path), { recursive: true, force: true })
  for (const path of ['cache/apt/archives', 'lib/apt/lists']) rmSync(join(base, 'var', path), { recursive: true, force: true })
  const archive = join(folder, 'base.tar')
  execFileSync('tar', ['-C', base, '-cf', archive, '.'])
  docker('import', archive, 'debian-base:test')
  rmSync(base, { recursive: true })
}

/** The same with this machine's Node and npm, and the certificates that npm trusts here. */
export function buildNodeBase(docker: Docker, folder: string): void {
  const context = join(folder, 'node-base')
  mkdirSync(join(context, 'bin'), { recursive: true })
  cpSync(process.execPath, join(context, 'bin/node'))
  const modules = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim()
  cpSync(join(modules, 'npm'), join(context, 'lib/node_modules/npm'), { recursive: true, dereference: true })
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? ''
  if (existsSync(certificates)) cpSync(certificates, join(context, 'share/certificates.crt'))
  const trust = existsSync(certificates)
    ? 'ENV NODE_EXTRA_CA_CERTS=/usr/local/share/certificates.crt npm_config_cafile=/usr/local/share/certificates.crt\n'
    : ''
  const link = 'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm\n'
  writeFileSync(join(context, 'Dockerfile'), `FROM debian-base:test\nCOPY . /usr/local/\n${trust}${link}`)
  docker('build', '--quiet', '--tag', 'node-base:test', context)
}

/** Builds the image of this clone. */
export function buildImage(docker: Docker): void {
  const bases = ['--build-arg', 'BUILD_BASE=node-base:test', '--build-arg', 'BASE=debian-base:test']
  docker('build', '--quiet', '--network', 'host', ...bases, '--file', join(root, 'deploy/Dockerfile'), '--tag', 'agentrun:test', root)
}
