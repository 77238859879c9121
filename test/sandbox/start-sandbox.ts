import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBubblewrapDriver } from '../../src/sandbox/bubblewrap/bubblewrap.ts'
import { createDockerEngine } from '../../src/sandbox/containers/docker.ts'
import { createContainerDriver, RESERVE } from '../../src/sandbox/containers/driver.ts'
import type {
  ExecRequest,
  ExecResult,
  Sandbox,
  SandboxDriver,
  SandboxLimits,
  SandboxSpec,
} from '../../src/sandbox/port.ts'
import { createOwnFolder } from '../../src/system/own-folder.ts'
import { ensureSystemUsers } from '../../src/system/users.ts'
import { type ClusterOfTests, clusterDriver } from './cluster/driver.ts'

const mebibyte = 1024 * 1024
export const limits: SandboxLimits = {
  max_memory_bytes: 1024 * mebibyte,
  cpus: 2,
  max_processes: 128,
  max_disk_bytes: 20 * 1024 * mebibyte,
  max_files: 2_000_000,
  max_file_bytes: 1024 * mebibyte,
  max_tmp_bytes: 64 * mebibyte,
  max_process_bytes: null,
}

export const path = process.env.PATH ?? ''
export const sandbox_user = ensureSystemUsers().sandbox

/** The engine that the test file requests; undefined: bubblewrap. */
export type EngineOfTests =
  | { name: 'docker' | 'podman'; socket: string; image?: string; runtime?: string }
  | ClusterOfTests
const engine: EngineOfTests | undefined = process.env.SANDBOX_TEST_ENGINE
  ? JSON.parse(process.env.SANDBOX_TEST_ENGINE)
  : undefined

/** All differences between the drivers. */
export const promises = {
  driver: engine?.name ?? 'bubblewrap',
  /** The user of all processes inside. */
  uid: engine ? (sandbox_user?.uid ?? process.getuid?.() ?? 0) : 1000,
  /** What it sees of the machine's devices and of the kernel's files about itself. */
  sys: engine === undefined ? 'none' : engine.name === 'kubernetes' ? 'read-only' : 'empty',
  /** Whether it has more of a network than its loopback, one that leads nowhere. */
  network: engine?.name === 'kubernetes',
  /** Whether its programs are those of an image, not of the host. */
  own_root: engine?.image !== undefined,
  /**
   * How many processes there can be with that limit. A container has a reserve; in Kubernetes the bound is
   * the node's for all.
   */
  mostProcesses: (limit: number) =>
    engine === undefined ? limit : RESERVE + (engine.name === 'kubernetes' ? limits.max_processes : limit),
  /** What ends a fork bomb: its time-out, or also a process that frees a slot for the next one. */
  bomb_ends: engine ? ['timeout', 'exited'] : ['timeout'],
}

/**
 * In the position of `test` for what the driver does not promise: nothing is registered, because only what a
 * machine lacks counts as skipped.
 */
export const noTest = (_name: string, _run: () => unknown, _timeout_ms?: number): void => {}

/** The driver as the service would make it. */
export function plainDriver(runtime_dir: string, user = sandbox_user): SandboxDriver {
  const own = { user, node_path: process.execPath, runtime_dir }
  if (engine === undefined) return createBubblewrapDriver({ ...own, path })
  if (engine.name === 'kubernetes') return clusterDriver(engine, own)
  const { name, socket, image = null, runtime = null } = engine
  const files = { seccomp_file: join(runtime_dir, 'seccomp.json'), owner: runtime_dir }
  return createContainerDriver({
    ...own,
    engine: createDockerEngine({ name, socket, image, runtime, ...files }),
    own_root: image !== null,
  })
}

/** A driver with a temporary folder of its own, which goes with it. */
export function makeDriver(): AsyncDisposable & {
  driver: SandboxDriver
  folder: string
  makeWorkspace(name: string): string
} {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-test-'))
  chmodSync(folder, 0o711)
  mkdirSync(join(folder, 'workspaces'))
  const plain = plainDriver(join(folder, 'runtime'))
  const base = join(folder, 'base')
  createOwnFolder(base, 0o700, sandbox_user)
  return {
    driver: process.env.SANDBOX_TEST_LAYERED === '1' ? inLayers(plain, base) : plain,
    folder,
    makeWorkspace(name) {
      const path = join(folder, 'workspaces', name)
      createOwnFolder(path, 0o700, sandbox_user)
      return path
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The same driver, whose workspaces are layers on `base`. */
function inLayers(driver: SandboxDriver, base: string): SandboxDriver {
  return {
    ...driver,
    async start(spec) {
      if (!existsSync(spec.workspace) || !lstatSync(spec.workspace).isDirectory()) return driver.start(spec)
      const layer = await driver.layers?.open([{ folder: spec.workspace, base }])
      if (layer === undefined) throw new Error('the driver has no layers')
      const end = () => layer[Symbol.asyncDispose]()
      const sandbox = await driver.start({ ...spec, within: layer }).catch(async error => {
        await end()
        throw error
      })
      void sandbox.ended.then(end)
      return sandbox
    },
  }
}

type Options = Partial<Omit<ExecRequest, 'command' | 'shell'>>
export type TextResult = Omit<ExecResult, 'output'> & { text: string }

/** A running sandbox with short ways to run commands in it. */
export type TestSandbox = AsyncDisposable & {
  sandbox: Sandbox
  /** In the persistent shell. */
  shell(command: string, options?: Options): Promise<TextResult>
  /** As a process of its own. */
  separate(command: string, options?: Options): Promise<TextResult>
}

export async function startSandbox(
  driver: SandboxDriver,
  workspace: string,
  spec: { limits?: Partial<SandboxLimits> } & Partial<
    Pick<SandboxSpec, 'home' | 'read_only' | 'sockets' | 'environment' | 'within'>
  > = {},
): Promise<TestSandbox> {
  const sandbox = await driver.start({
    read_only: [],
    ...spec,
    workspace,
    limits: { ...limits, ...spec.limits },
  })
  const run = async (request: ExecRequest): Promise<TextResult> => {
    const { output, ...rest } = await sandbox.exec(request)
    return { ...rest, text: Buffer.from(output).toString() }
  }
  const defaults = { timeout_ms: 20_000, max_output_bytes: 100_000 }
  return {
    sandbox,
    shell: (command, options) => run({ ...defaults, ...options, command, shell: 'persistent' }),
    separate: (command, options) => run({ ...defaults, ...options, command, shell: 'separate' }),
    [Symbol.asyncDispose]: () => sandbox.stop(),
  }
}
