import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { hostEnvironment, NODE_FOLDER } from '../../core/sandbox-environment.ts'
import type { SystemUser } from '../../system/users.ts'
import { nodeHeaders, ownFiles, systemFiles } from '../bubblewrap/host-files.ts'
import type { PipeFolder } from '../commands/pipe-folder.ts'
import { type SandboxDriver, SandboxError, type SandboxSpec } from '../port.ts'
import { prepareRuntimeFolder, type RuntimeFolder } from '../process/runtime-folder.ts'
import type { SandboxProcess } from '../process/sandbox-process.ts'
import { proveIsolation } from '../process/self-test.ts'
import { initParameters } from '../process/start-init.ts'
import { startSandbox } from '../process/start-sandbox.ts'
import { type Control, openControl } from './control.ts'
import type { Container, ContainerEngine, ContainerSpec } from './engine.ts'
import { type ReportedUsage, reportedUsage } from './reported-usage.ts'

/**
 * Processes in a container beyond the agent's limit: process 1, keepers, the port forwarder, and a margin for
 * what starts before it is noticed.
 */
export const RESERVE = 96

type DriverOptions = {
  engine: ContainerEngine
  user: SystemUser | null
  node_path: string
  runtime_dir: string
  own_root: boolean
  /** Timeout for the start of a sandbox; default 10 s. */
  start_timeout_ms?: number
}

/**
 * Creates the driver for sandboxes as containers of an engine. As root they run as `user`, who owns the
 * workspaces; otherwise `user` is null and they run as the service's own user. `node_path` and the programs
 * of the host are shown in them, unless `own_root`: then the engine's image contains everything, including an
 * unreadable bash at /opt/agentrun/bash. `runtime_dir` is a host folder of the service, created when missing.
 */
export function createContainerDriver(options: DriverOptions): SandboxDriver {
  const { engine, own_root } = options
  const has_headers = !own_root && nodeHeaders(options.node_path) !== null
  const user = options.user ?? ourselves()
  let runtime: RuntimeFolder | undefined
  const prepare = (): RuntimeFolder => {
    if (user.uid === 0) throw new SandboxError('running as root needs an unprivileged user for the sandbox')
    runtime ??= prepareRuntimeFolder(options.runtime_dir, user)
    return runtime
  }
  const start = async (spec: SandboxSpec) => {
    const ready = prepare()
    const start_timeout_ms = options.start_timeout_ms ?? 10_000
    const launched = { options, environment: hostEnvironment(has_headers), user, runtime: ready }
    return startSandbox(spec, { user: options.user, pipes: ready.pipes, start_timeout_ms }, pipes =>
      launch(spec, pipes, launched),
    )
  }
  return {
    name: engine.name,
    node_folder: has_headers ? NODE_FOLDER : null,
    means() {
      prepare()
      return { memory: engine.name, cpu: engine.name, processes: engine.name }
    },
    start,
    async end(identities) {
      await Promise.all(identities.split('\n').map(engine.end))
    },
    async selfTest() {
      try {
        await engine.prepare()
      } catch (error) {
        return { ok: false, reason: error instanceof Error ? error.message : String(error) }
      }
      return proveIsolation(start, {
        ...options,
        uid: user.uid,
        own_root,
        usr: 'read-only',
        findReachable: engine.findReachable ?? null,
        explain: complaint => complaint.replace(/\s+/g, ' '),
      })
    },
  }
}

type Launch = {
  options: DriverOptions
  environment: Record<string, string>
  user: { uid: number; gid: number }
  runtime: RuntimeFolder
}

async function launch(
  spec: SandboxSpec,
  pipes: PipeFolder,
  { options, environment, user, runtime }: Launch,
): Promise<SandboxProcess> {
  const { engine, own_root } = options
  const mounts = mountsOf(spec, pipes, [
    ...(own_root ? [] : systemFiles(options.node_path, runtime.empty)),
    ...ownFiles(runtime),
  ])
  // Some engines create what is missing.
  const missing = mounts.find(({ host }) => !existsSync(host))
  if (missing) throw new SandboxError(`${missing.host} is not there, and cannot be shown in a sandbox`)
  if (spec.within) throw new SandboxError(`the driver ${engine.name} has no layers`)
  const ports = (spec.sockets ?? []).flatMap(({ port, inside }) =>
    port === undefined ? [] : [`${port}=${inside}`],
  )
  const control = await openControl(pipes.path, ports.length > 0, { ...spec.environment, ...environment })
  const reported = engine.watched_from_inside ? reportedUsage(control.send) : null
  const bash = own_root ? '/opt/agentrun/bash' : '/run/init/bash'
  const kind = engine.watched_from_inside ? 'pod' : 'container'
  try {
    const container = await engine.start({
      command: [bash, '/run/init/init.sh', kind, ...initParameters(spec.limits), ...ports],
      environment,
      user,
      mounts,
      memory_folders: ['/tmp', ...(spec.home === undefined ? ['/home/agent'] : [])].map(inside => ({
        inside,
        bytes: spec.limits.max_tmp_bytes,
      })),
      shared_memory_bytes: spec.limits.max_tmp_bytes,
      bounds: { ...spec.limits, max_processes: spec.limits.max_processes + RESERVE },
      max_open_files: 4096,
    })
    return processOf(container, control, reported)
  } catch (error) {
    control.close()
    throw error
  }
}

function processOf(container: Container, control: Control, reported: ReportedUsage | null): SandboxProcess {
  let stopped: Promise<void> | undefined
  const ended = container.ended.then(control.close)
  return {
    send: control.send,
    listen: on_line => control.listen(line => void (reported?.read(line) || on_line(line))),
    ports: control.ports,
    usage: reported?.usage ?? container.usage,
    refreshUsage: reported?.refresh ?? (async () => {}),
    pid: () => container.pid,
    identity: () => container.identity,
    complaint: () => container.ended,
    stop() {
      // Process 1 ends by itself, before the engine has found it.
      control.close()
      stopped ??= container.stop()
      return stopped
    },
    ended,
  }
}

function mountsOf(
  spec: SandboxSpec,
  pipes: PipeFolder,
  files: { host: string; inside: string }[],
): ContainerSpec['mounts'] {
  const shown = [
    ...files,
    { host: pipes.path, inside: '/run/exec' },
    ...spec.read_only,
    ...(spec.sockets ?? []),
  ]
  const mounts = [
    ...shown.map(({ host, inside }) => ({ host, inside, writable: false })),
    { host: spec.workspace, inside: '/workspace', writable: true },
    ...(spec.home === undefined ? [] : [{ host: spec.home, inside: '/home/agent', writable: true }]),
  ]
  return mounts.toSorted((a, b) => depth(a.inside) - depth(b.inside))
}

const depth = (path: string) => join(path, '.').split('/').length

function ourselves(): { uid: number; gid: number } {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
}
