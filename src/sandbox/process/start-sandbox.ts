import { lstatSync } from 'node:fs'
import type { SystemUser } from '../../system/users.ts'
import { createPipeFolder, type PipeFolder } from '../commands/pipe-folder.ts'
import { type Sandbox, SandboxError, type SandboxSpec, type WorkspaceSize } from '../port.ts'
import { deletedFiles } from '../resources/deleted-files.ts'
import { workspaceSize } from '../workspaces/workspace-size.ts'
import { openSandbox } from './open-sandbox.ts'
import type { SandboxProcess } from './sandbox-process.ts'
import { startInit } from './start-init.ts'

/** `user` is null without root. `pipes`: the host folder in which each sandbox has its pipe folder. */
type SandboxHostSettings = { user: SystemUser | null; pipes: string; start_timeout_ms: number }

/**
 * Starts a sandbox for any driver: `launch` starts process 1, with the folder of pipes shown as /run/exec.
 * Rejects with SandboxError and leaves nothing behind.
 */
export async function startSandbox(
  spec: SandboxSpec,
  host: SandboxHostSettings,
  launch: (pipes: PipeFolder) => SandboxProcess | Promise<SandboxProcess>,
): Promise<Sandbox> {
  if (!lstatSync(spec.workspace, { throwIfNoEntry: false })?.isDirectory())
    throw new SandboxError(`the workspace ${spec.workspace} is not a folder`)
  const odd = Object.entries(spec.environment ?? {}).find(
    ([name, value]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || value.includes('\0'),
  )
  if (odd) throw new SandboxError(`the sandbox cannot have the variable ${JSON.stringify(odd[0])}`)
  const pipes = createPipeFolder(host.pipes, host.user)
  const starting = async () => startInit(await launch(pipes), host.start_timeout_ms)
  // In parallel: inside, the pipes are needed only when process 1 gets its first request.
  const [init, slot] = await Promise.allSettled([starting(), pipes.takeSlot()])
  if (init.status === 'fulfilled' && slot.status === 'fulfilled') {
    pipes.giveBack(slot.value)
    return openSandbox(spec, init.value, pipes, () => sizeOf(spec, host.user, init.value.pid))
  }
  if (init.status === 'fulfilled') await init.value.stop()
  pipes.remove()
  throw init.status === 'rejected'
    ? init.reason
    : new SandboxError('cannot create the pipes of a sandbox', { cause: slot })
}

async function sizeOf(
  { workspace, home }: SandboxSpec,
  user: SystemUser | null,
  process_1: number,
): Promise<WorkspaceSize | null> {
  const folders = [workspace, ...(home === undefined ? [] : [home])]
  const sizes = await Promise.all([
    ...folders.map(path => workspaceSize(path, user)),
    deletedFiles(process_1, folders),
  ])
  return sizes.reduce(
    (sum, size) => sum && size && { bytes: sum.bytes + size.bytes, files: sum.files + size.files },
  )
}
