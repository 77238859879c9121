import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { NODE_FOLDER } from '../../core/sandbox-environment.ts'
import { endProcess } from '../../system/process-identity.ts'
import { folderStateAs } from '../../system/programs/run-program.ts'
import type { SystemUser } from '../../system/users.ts'
import { type LayerDriver, type SandboxDriver, SandboxError, type SandboxSpec } from '../port.ts'
import { prepareRuntimeFolder } from '../process/runtime-folder.ts'
import { proveIsolation } from '../process/self-test.ts'
import { startSandbox } from '../process/start-sandbox.ts'
import { createWatchdog } from '../process/watchdog.ts'
import type { ResourceControl } from '../resources/bounds.ts'
import { detectResources } from '../resources/detect.ts'
import { openLayer, storedIn } from '../workspaces/layer.ts'
import { proveLayers } from '../workspaces/layer-test.ts'
import { type SandboxHost, spawnBubblewrap } from './bubblewrap-process.ts'
import { explainFailure } from './explain-failure.ts'
import { nodeHeaders } from './host-files.ts'

const bwrap_paths = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap']

/**
 * Creates the driver for bubblewrap 0.8 or newer. As root everything runs as `user`, who owns the workspaces;
 * otherwise `user` is null. `path` as in the environment: where bwrap is searched for in addition to the
 * default folders. `node_path` is the Node shown inside as /opt/node/bin/node. `runtime_dir` is a host folder
 * of the service, created when missing, that `user` can reach; the files that sandboxes consist of are
 * written there at the first start. Use it from the main thread only: the kernel ends a sandbox with the
 * thread that started it.
 */
export function createBubblewrapDriver(options: {
  user: SystemUser | null
  path: string
  node_path: string
  runtime_dir: string
  /** Timeout for the start of a sandbox; default 10 s. */
  start_timeout_ms?: number
  /** Enforces the limits; by default the mechanisms that this machine provides. */
  resources?: ResourceControl
}): SandboxDriver {
  let host: SandboxHost | undefined
  const prepare = (): SandboxHost => {
    if (process.getuid?.() === 0 && !options.user)
      throw new SandboxError('running as root needs an unprivileged user for the sandbox')
    const bwrap_path = findBubblewrap(bwrap_paths, options.path)
    if (!bwrap_path) throw new SandboxError('bubblewrap is not installed: install the package "bubblewrap"')
    host ??= {
      start_timeout_ms: options.start_timeout_ms ?? 10_000,
      runtime: prepareRuntimeFolder(options.runtime_dir),
      resources: options.resources ?? detectResources(),
      user: options.user,
      node_path: options.node_path,
      bwrap_path,
      watchdog: createWatchdog(),
    }
    return host
  }
  const start = async (spec: SandboxSpec) => {
    const ready = prepare()
    return startSandbox(spec, { ...ready, pipes: ready.runtime.pipes }, pipes =>
      spawnBubblewrap(spec, pipes.path, ready),
    )
  }
  const end = async (identities: string) => {
    await Promise.all(identities.split('\n').map(endProcess))
  }
  const open: LayerDriver['open'] = async copies => openLayer(copies, prepare())
  const layers: LayerDriver = { open, selfTest: folder => proveLayers(folder, options.user, start, open) }
  return {
    name: 'bubblewrap',
    means: () => prepare().resources.means,
    start,
    end,
    layers,
    filesState: (workspace, layered) =>
      folderStateAs(options.user, layered ? storedIn(workspace) : workspace),
    node_folder: nodeHeaders(options.node_path) === null ? null : NODE_FOLDER,
    selfTest: () =>
      proveIsolation(start, {
        ...options,
        uid: 1000,
        own_root: false,
        usr: 'nosuid',
        findReachable: null,
        explain: explainFailure,
      }),
  }
}

/**
 * Returns the first of `candidates` that exists, or bwrap in a folder of `path`; undefined when there is
 * none. Relative folders are ignored.
 */
export function findBubblewrap(candidates: string[], path: string): string | undefined {
  const folders = path.split(delimiter).filter(isAbsolute)
  return [...candidates, ...folders.map(folder => join(folder, 'bwrap'))].find(candidate =>
    existsSync(candidate),
  )
}
