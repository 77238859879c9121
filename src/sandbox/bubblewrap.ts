import { existsSync, lstatSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { endProcess } from '../system/process-identity.ts'
import type { SystemUser } from '../system/users.ts'
import type { SandboxHost } from './bubblewrap-process.ts'
import { startInit } from './init-process.ts'
import { openSandbox } from './open-sandbox.ts'
import { createPipeFolder } from './pipe-folder.ts'
import { type Sandbox, type SandboxDriver, SandboxError, type SandboxSpec } from './port.ts'
import { prepareRuntimeFolder } from './runtime-folder.ts'
import { proveIsolation } from './self-test.ts'

const bwrap_places = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap']

/**
 * Sandboxes by bubblewrap 0.8 or newer. As root everything is run as `user`, to whom the workspaces belong; otherwise `user` is null.
 * `path` as in the environment: where bwrap is looked for besides the usual places. `node_path` is the Node shown inside as /opt/node/bin/node. `runtime_dir` is a host folder of ours, made when missing, that `user` can
 * reach; all that sandboxes are made of is written there at the first start. Use it from the main thread only: the kernel ends a sandbox
 * with the thread that started it.
 */
export function createBubblewrapDriver(options: {
  user: SystemUser | null
  path: string
  node_path: string
  runtime_dir: string
  /** How long a sandbox may take to start; default 10 s. */
  start_timeout_ms?: number
}): SandboxDriver {
  let host: SandboxHost | undefined
  const prepare = (): SandboxHost => {
    if (process.getuid?.() === 0 && !options.user) throw new SandboxError('running as root needs an unprivileged user for the sandbox')
    const bwrap_path = findBubblewrap(bwrap_places, options.path)
    if (!bwrap_path) throw new SandboxError('bubblewrap is not installed: install the package "bubblewrap"')
    host ??= {
      start_timeout_ms: options.start_timeout_ms ?? 10_000,
      runtime: prepareRuntimeFolder(options.runtime_dir),
      user: options.user,
      node_path: options.node_path,
      bwrap_path,
    }
    return host
  }
  const start = async (spec: SandboxSpec) => startSandbox(spec, prepare())
  const end = async (identities: string) => {
    await Promise.all(identities.split('\n').map(endProcess))
  }
  return { name: 'bubblewrap', start, end, selfTest: () => proveIsolation(start, options) }
}

/** The first of `places` that is there, or bwrap in a folder of `path`; undefined when there is none. Relative folders count for nothing. */
export function findBubblewrap(places: string[], path: string): string | undefined {
  const folders = path.split(delimiter).filter(isAbsolute)
  return [...places, ...folders.map(folder => join(folder, 'bwrap'))].find(place => existsSync(place))
}

async function startSandbox(spec: SandboxSpec, host: SandboxHost): Promise<Sandbox> {
  if (!lstatSync(spec.workspace, { throwIfNoEntry: false })?.isDirectory())
    throw new SandboxError(`the workspace ${spec.workspace} is not a folder`)
  const pipes = createPipeFolder(host.runtime.pipes, host.user)
  // Together: inside, the pipes are needed only when process 1 gets its first request.
  const [init, slot] = await Promise.allSettled([startInit(spec, pipes.path, host), pipes.takeSlot()])
  if (init.status === 'fulfilled' && slot.status === 'fulfilled') {
    pipes.giveBack(slot.value)
    return openSandbox(spec, init.value, pipes)
  }
  if (init.status === 'fulfilled') await init.value.stop()
  pipes.remove()
  throw init.status === 'rejected' ? init.reason : new SandboxError('cannot make the pipes of a sandbox', { cause: slot })
}
