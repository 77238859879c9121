import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { dockerApi } from '../../../src/sandbox/containers/docker-api.ts'
import { processIds, signalProcess, waitUntil } from '../../../src/system/processes.ts'

export type EngineName = 'docker' | 'podman'
export type TestEngine = AsyncDisposable & { name: EngineName; socket: string; folder: string }

const START_MS = 30_000
const programs = { docker: 'dockerd', podman: 'podman' }

const problems = new Map<EngineName, Promise<string | null>>()

/** Null: this machine starts one, which the first call tries. Otherwise one line with the reason. */
export function engineProblem(name: EngineName): Promise<string | null> {
  const problem = problems.get(name) ?? detectProblem(name)
  problems.set(name, problem)
  return problem
}

async function detectProblem(name: EngineName): Promise<string | null> {
  if (!isInstalled(programs[name])) return `${programs[name]} is not installed`
  if (process.getuid?.() !== 0) return 'only root can start an engine of its own'
  try {
    await using _engine = await startEngine(name)
    return null
  } catch (error) {
    return String(error)
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
  }
}

export function isInstalled(program: string): boolean {
  return `${process.env.PATH}:/usr/sbin:/usr/bin`
    .split(delimiter)
    .some(folder => existsSync(join(folder, program)))
}

/**
 * `storage`: `vfs` (default) works everywhere and copies every layer; with `detected`, Docker chooses what
 * suits the file system.
 */
type EngineOptions = {
  runtimes?: Record<string, { path: string; runtimeArgs?: string[] }>
  storage?: 'vfs' | 'detected'
}

/** A container engine of its own, with its own folders and no network, which leaves nothing behind. */
export async function startEngine(name: EngineName, options: EngineOptions = {}): Promise<TestEngine> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  chmodSync(folder, 0o711)
  const socket = join(folder, 'engine.sock')
  const child = name === 'docker' ? startDocker(folder, socket, options) : startPodman(folder, socket)
  let output = ''
  child.stderr?.on('data', chunk => {
    output = `${output}${chunk}`.slice(-4_000)
  })
  const over = once(child, 'exit')
  const responses = async () =>
    (
      await dockerApi(socket)
        .call('GET', '/info', { timeout_ms: 5_000 })
        .catch(() => null)
    )?.status === 200
  const stop = async () => {
    child.kill('SIGTERM')
    await over
    // A runtime that failed may leave who watched it.
    for (const pid of processIds()) if (commandLine(pid).includes(`${folder}/`)) signalProcess(pid, 'SIGKILL')
    for (const line of readFileSync('/proc/mounts', 'utf8').split('\n').toReversed()) {
      const [, point = ''] = line.split(' ')
      if (point.startsWith(`${folder}/`)) spawnSync('umount', ['-l', point])
    }
    rmSync(folder, { recursive: true, force: true })
  }
  if (
    !(await waitUntil(async () => child.exitCode !== null || (await responses()), START_MS, 50)) ||
    child.exitCode !== null
  ) {
    await stop()
    throw new Error(`${name} does not start: ${output}`)
  }
  return { name, socket, folder, [Symbol.asyncDispose]: stop }
}

function startDocker(
  folder: string,
  socket: string,
  { runtimes = {}, storage = 'vfs' }: EngineOptions,
): ChildProcess {
  const config = join(folder, 'daemon.json')
  writeFileSync(config, JSON.stringify({ runtimes }))
  const own = [
    '--config-file',
    config,
    '--data-root',
    join(folder, 'data'),
    '--exec-root',
    join(folder, 'exec'),
    '-p',
    join(folder, 'pid'),
  ]
  const quiet = ['--bridge=none', '--iptables=false', '--ip-forward=false', '--log-level', 'error']
  if (storage !== 'detected') quiet.push('--storage-driver', storage)
  return spawn('dockerd', [...own, ...quiet, '-H', `unix://${socket}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

function startPodman(folder: string, socket: string): ChildProcess {
  for (const name of ['root', 'run', 'tmp']) mkdirSync(join(folder, name))
  const own = [
    '--root',
    join(folder, 'root'),
    '--runroot',
    join(folder, 'run'),
    '--tmpdir',
    join(folder, 'tmp'),
  ]
  // Debian installs either runtime with Podman.
  const runtime = isInstalled('runc') ? 'runc' : 'crun'
  const plain = [
    '--storage-driver',
    'vfs',
    '--cgroup-manager',
    'cgroupfs',
    '--runtime',
    runtime,
    '--events-backend',
    'file',
  ]
  return spawn('podman', [...own, ...plain, 'system', 'service', '--time', '0', `unix://${socket}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}
