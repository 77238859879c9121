import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { buildServer } from '../../scripts/build-server.ts'
import { engineProblem, isInstalled } from '../sandbox/containers/start-engine.ts'
import { root } from '../system/small-clone.ts'

const debian = 'http://deb.debian.org/debian'

export type Docker = (...args: string[]) => Promise<string>

const execute = promisify(execFile)

/** The command `docker` of an engine; resolves to its standard output, and rejects with its errors. */
export const dockerOf =
  (socket: string): Docker =>
  async (...args) => {
    const env = { ...process.env, DOCKER_HOST: `unix://${socket}`, DOCKER_BUILDKIT: '0' }
    return (await execute('docker', args, { env, maxBuffer: 64 * 1024 ** 2 })).stdout.trim()
  }

/** Null: the image can be built here. Otherwise one line with the reason. */
export async function imageProblem(): Promise<string | null> {
  if (!isInstalled('debootstrap')) return 'debootstrap is not installed'
  const problem = await engineProblem('docker')
  if (problem !== null) return problem
  const registry = (await execute('npm', ['config', 'get', 'registry'])).stdout.trim()
  for (const address of [debian, registry])
    try {
      await fetch(address, { method: 'HEAD', signal: AbortSignal.timeout(10_000) })
    } catch {
      return `${address} cannot be reached`
    }
  return null
}

/**
 * A minimal Debian as the slim image is, from Debian's packages, because no image registry is needed for it.
 */
export async function importDebian(docker: Docker, folder: string): Promise<void> {
  const base = join(folder, 'base')
  await execute('debootstrap', ['--variant=minbase', 'bookworm', base, debian], { maxBuffer: 64 * 1024 ** 2 })
  for (const path of ['doc', 'man', 'locale', 'info', 'lintian'])
    rmSync(join(base, 'usr/share', path), { recursive: true, force: true })
  for (const path of ['cache/apt/archives', 'lib/apt/lists'])
    rmSync(join(base, 'var', path), { recursive: true, force: true })
  const archive = join(folder, 'base.tar')
  await execute('tar', ['-C', base, '-cf', archive, '.'])
  await docker('import', archive, 'debian-base:test')
  rmSync(base, { recursive: true })
}

/** The same with this machine's Node and npm, and the certificates that npm trusts here. */
export async function buildNodeBase(docker: Docker, folder: string): Promise<void> {
  const context = join(folder, 'node-base')
  mkdirSync(join(context, 'bin'), { recursive: true })
  cpSync(process.execPath, join(context, 'bin/node'))
  // Not by `npm root`: that is beside the Node of this process, which may come without npm.
  const npm = realpathSync((await execute('bash', ['-c', 'type -P npm'])).stdout.trim())
  cpSync(join(dirname(npm), '..'), join(context, 'lib/node_modules/npm'), {
    recursive: true,
    dereference: true,
  })
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? ''
  if (existsSync(certificates)) cpSync(certificates, join(context, 'share/certificates.crt'))
  const trust = existsSync(certificates)
    ? 'ENV NODE_EXTRA_CA_CERTS=/usr/local/share/certificates.crt npm_config_cafile=/usr/local/share/certificates.crt\n'
    : ''
  const link = 'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm\n'
  writeFileSync(join(context, 'Dockerfile'), `FROM debian-base:test\nCOPY . /usr/local/\n${trust}${link}`)
  await docker('build', '--quiet', '--tag', 'node-base:test', context)
}

/** Packs the package of the service for `installInDebian`. */
export async function packServer(folder: string): Promise<void> {
  const context = join(folder, 'install')
  buildServer(join(context, 'package'))
  await execute('npm', ['pack', '--silent', '--pack-destination', context, join(context, 'package')])
}

/**
 * Runs deploy/systemd/install.sh twice in a fresh Debian, then starts the service as its unit does, with the
 * user and the command of that. Returns what all of it printed.
 */
export async function installInDebian(docker: Docker, folder: string): Promise<string> {
  const context = join(folder, 'install')
  const [tarball = ''] = readdirSync(context).filter(name => name.endsWith('.tgz'))
  for (const name of ['install.sh', 'agentrun.service'])
    cpSync(join(root, 'deploy/systemd', name), join(context, name))
  const script = `set -e
    /context/install.sh /context/${tarball}; cp /etc/agentrun/agentrun.env /tmp/first
    /context/install.sh /context/${tarball}; cmp /etc/agentrun/agentrun.env /tmp/first && echo 'settings are kept'
    stat -c '%a %U %n' /etc/agentrun/agentrun.env /var/lib/agentrun /opt/agentrun
    cmp /etc/systemd/system/agentrun.service /context/agentrun.service && echo 'unit is installed'
    command=$(sed -n 's/^ExecStart=//p' /etc/systemd/system/agentrun.service)
    set -a; . /etc/agentrun/agentrun.env; set +a
    cd /var/lib/agentrun
    echo 'AGENTRUN_PORT = 0' >agentrun.toml
    as_unit='setpriv --reuid=agentrun --regid=agentrun --clear-groups --no-new-privs --bounding-set=-all'
    $as_unit $command admin config
    $as_unit $command >/tmp/out 2>/tmp/err &
    for n in $(seq 120); do grep -q 'is ready' /tmp/out 2>/dev/null && break; sleep 1; done
    kill -TERM $!; code=0; wait $! || code=$?; echo "ended with $code"; cat /tmp/out; tail -n 5 /tmp/err`
  writeFileSync(join(context, 'script.sh'), script)
  const trusted = existsSync(process.env.NODE_EXTRA_CA_CERTS ?? '')
    ? [process.env.NODE_EXTRA_CA_CERTS ?? '']
    : []
  const certificates = trusted.flatMap(path => [
    ...['--volume', `${path}:/certificates.crt:ro`, '--env', 'NODE_EXTRA_CA_CERTS=/certificates.crt'],
    ...['--env', 'npm_config_cafile=/certificates.crt'],
  ])
  const options = [
    '--network',
    'host',
    '--security-opt',
    'seccomp=unconfined',
    '--security-opt',
    'systempaths=unconfined',
    ...certificates,
  ]
  return docker(
    'run',
    '--rm',
    ...options,
    '--volume',
    `${context}:/context:ro`,
    'debian-base:test',
    'bash',
    '/context/script.sh',
  )
}

/** Builds the image of this clone. */
export async function buildImage(docker: Docker): Promise<void> {
  const bases = ['--build-arg', 'BUILD_BASE=node-base:test', '--build-arg', 'BASE=debian-base:test']
  await docker(
    'build',
    '--quiet',
    '--network',
    'host',
    ...bases,
    '--file',
    join(root, 'deploy/Dockerfile'),
    '--tag',
    'agentrun:test',
    root,
  )
}
