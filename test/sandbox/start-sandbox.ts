import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBubblewrapDriver } from '../../src/sandbox/bubblewrap.ts'
import type { ExecRequest, ExecResult, Sandbox, SandboxDriver, SandboxLimits } from '../../src/sandbox/port.ts'
import { makeOwnFolder } from '../../src/system/own-folder.ts'
import { ensureServiceUsers } from '../../src/system/users.ts'

const mebibyte = 1024 * 1024
export const limits: SandboxLimits = {
  max_processes: 128,
  max_file_bytes: 1024 * mebibyte,
  max_tmp_bytes: 64 * mebibyte,
  max_process_bytes: 16 * 1024 * mebibyte,
}

export const path = process.env.PATH ?? ''
export const sandbox_user = ensureServiceUsers().sandbox

/** A driver with a temporary folder of its own, which goes with it. */
export function makeDriver(): AsyncDisposable & { driver: SandboxDriver; folder: string; makeWorkspace(name: string): string } {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-test-'))
  chmodSync(folder, 0o711)
  mkdirSync(join(folder, 'workspaces'))
  const driver = createBubblewrapDriver({ user: sandbox_user, path, node_path: process.execPath, runtime_dir: join(folder, 'runtime') })
  return {
    driver,
    folder,
    makeWorkspace(name) {
      const path = join(folder, 'workspaces', name)
      makeOwnFolder(path, 0o700, sandbox_user)
      return path
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
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
  spec: { limits?: Partial<SandboxLimits>; read_only?: { host: string; inside: string }[] } = {},
): Promise<TestSandbox> {
  const sandbox = await driver.start({ workspace, read_only: spec.read_only ?? [], limits: { ...limits, ...spec.limits } })
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
