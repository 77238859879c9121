import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildServer } from '../../scripts/build-server.ts'
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

/**
 * Runs deploy/systemd/install.sh twice in a fresh Debian, then starts the service as its unit does, with the user and the command of that.
 * Returns what all of it printed.
 */
export function installInDebian(docker: Docker, folder: string): string {
  const context = join(folder, 'install')
  buildServer(join(context, 'package'))
  execFileSync('npm', ['pack', '--silent', '--pack-destination', context, join(context, 'package')])
  const [tarball = ''] = readdirSync(context).filter(name => name.endsWith('.tgz'))
  for (const name of ['install.sh', 'agentrun.service']) cpSync(join(root, 'deploy/systemd', name), join(context, name))
  const script = `set -e
    /context/install.sh /context/${tarball}; cp /etc/agentrun/agentrun.env /tmp/first
    /context/install.sh /context/${tarball}; cmp /etc/agentrun/agentrun.env /tmp/first && echo 'settings are kept'
    stat -c '%a %U %n' /etc/agentrun/agentrun.env /var/lib/agentrun /opt/agentrun
    cmp /etc/systemd/system/agentrun.service /context/agentrun.service && echo 'unit is installed'
    command=$(sed -n 's/^ExecStart=//p' /etc/systemd/system/agentrun.service)
    set -a; . /etc/agentrun/agentrun.env; set +a
    cd /var/lib/agentrun
    AGENTRUN_PORT=0 setpriv --reuid=agentrun --regid=agentrun --clear-groups --no-new-privs --bounding-set=-all $command >/tmp/out 2>/tmp/err &
    for n in $(seq 120); do grep -q 'is ready' /tmp/out 2>/dev/null && break; sleep 1; done
    kill -TERM $!; code=0; wait $! || code=$?; echo "ended with $code"; cat /tmp/out; tail -n 5 /tmp/err`
  writeFileSync(join(context, 'script.sh'), script)
  const trusted = existsSync(process.env.NODE_EXTRA_CA_CERTS ?? '') ? [process.env.NODE_EXTRA_CA_CERTS ?? ''] : []
  const certificates = trusted.flatMap(path => [
    ...['--volume', `${path}:/certificates.crt:ro`, '--env', 'NODE_EXTRA_CA_CERTS=/certificates.crt'],
    ...['--env', 'npm_config_cafile=/certificates.crt'],
  ])
  const options = ['--network', 'host', '--security-opt', 'seccomp=unconfined', '--security-opt', 'systempaths=unconfined', ...certificates]
  return docker('run', '--rm', ...options, '--volume', `${context}:/context:ro`, 'debian-base:test', 'bash', '/context/script.sh')
}

/** Builds the image of this clone. */
export function buildImage(docker: Docker): void {
  const bases = ['--build-arg', 'BUILD_BASE=node-base:test', '--build-arg', 'BASE=debian-base:test']
  docker('build', '--quiet', '--network', 'host', ...bases, '--file', join(root, 'deploy/Dockerfile'), '--tag', 'agentrun:test', root)
}
