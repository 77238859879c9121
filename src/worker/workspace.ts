import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { tools_without_effect } from '../core/file-tools.ts'
import { errorText } from '../core/log.ts'
import { mirrorPath } from '../git/git-host.ts'
import { holdKept, type Kept, keptPath } from '../git/kept-repository.ts'
import type { Sandbox, SandboxLimits } from '../sandbox/port.ts'
import { adoptWorkspace, createShadow, createWorkspace, removeWorkspace } from '../sandbox/workspaces.ts'
import { checkpointAt, reopenCheckpoints } from '../store/checkpoints.ts'
import type { RunRow } from '../store/runs.ts'
import { recordWorkspace } from '../store/workspaces.ts'
import type { Base } from './base.ts'
import { MIRROR_INSIDE } from './checkout.ts'
import { Checkpoints } from './checkpoints.ts'
import { type Claim, FencedError } from './claim.ts'
import { bringTip } from './kept-objects.ts'
import { type Filling, fillWorkspace, takeOver } from './lay-out.ts'
import { Packer } from './packer.ts'
import { KEPT_INSIDE, type Restored } from './restore.ts'
import type { WorkerDeps } from './settings.ts'
import { startSnapshotSandbox } from './snapshot-sandbox.ts'
import { Snapshots } from './snapshots.ts'

export const sandboxLimits: SandboxLimits = {
  max_processes: 512,
  max_file_bytes: 4 * 1024 ** 3,
  max_tmp_bytes: 512 * 1024 ** 2,
  max_process_bytes: 64 * 1024 ** 3,
}

/** A run's files as its owner has them: the sandbox that shows them, and what is kept of them. Disposing it ends both and leaves the files. */
export type Workspace = AsyncDisposable & {
  sandbox: Sandbox
  checkpoints: Checkpoints
  /** How they came back, when somebody had worked on them before. */
  restored: Restored | null
}

/**
 * A sandbox with the run's workspace in it: the folder of the turn before where it is still there, otherwise the newest files that were
 * kept, otherwise a fresh clone of what the run last committed, or of its base. Says in the trace which. Throws StartError, SandboxError.
 */
export async function openWorkspace(
  deps: WorkerDeps,
  claim: Claim,
  run: RunRow,
  base: Base | null,
  signal: AbortSignal,
): Promise<Workspace> {
  // A frozen owner on this machine may come back: its sandboxes must not.
  if (run.sandbox !== null && run.workspace_host === deps.host) await deps.driver.end(run.sandbox)
  const kept: Kept = { run_id: run.id, repository_id: base?.repository.id ?? null }
  await using stack = new AsyncDisposableStack()
  stack.defer(await holdKept(deps.git, run.id))
  await reopenCheckpoints(deps.db, run.organization_id, run.id, claim.epoch)
  const last = (await checkpointAt(deps.db, run.organization_id, run.id, run.total_logs, tools_without_effect)) ?? null
  const tip = last === null ? null : await bringTip(deps, run.organization_id, kept, deps.checkpoints.max_pack_bytes)

  const adopted = adoptFolder(deps, claim, run)
  const workspace = adopted ?? (await createWorkspace(deps.folders.workspaces, run.id, claim.epoch, deps.users.sandbox))
  const shadow = await createShadow(deps.folders.workspaces, run.id, claim.epoch, deps.users.sandbox)
  // Not waited for: what stays is found by the sweep.
  stack.defer(() => void removeWorkspace(shadow, deps.users.sandbox).catch(() => {}))
  const mirror = base === null ? [] : [{ host: mirrorPath(deps.git, base.repository.id), inside: MIRROR_INSIDE }]
  const read_only = [...mirror, { host: keptPath(deps.git, run.id), inside: KEPT_INSIDE }]
  const { max_file_bytes, max_pack_bytes } = deps.checkpoints
  const spec = { kept, workspace, shadow, base_sha: base?.sha ?? null, max_file_bytes, max_bytes: max_pack_bytes }
  const startShots = () => startSnapshotSandbox(deps.driver, deps.git, spec)
  let sandboxes: string | null = null
  // A folder that is not filled yet is nobody's: whoever comes after us begins with another one.
  const record = async (filled: boolean) => {
    const place = { workspace: filled ? workspace : null, host: deps.host, sandbox: sandboxes }
    if (!(await recordWorkspace(deps.db, run.organization_id, run.id, claim.epoch, place)))
      throw new FencedError('the run belongs to another owner')
  }
  await record(adopted !== null)
  const [agent, shots] = await Promise.allSettled([deps.driver.start({ workspace, read_only, limits: sandboxLimits }), startShots()])
  for (const started of [agent, shots]) if (started.status === 'fulfilled') stack.use(started.value)
  if (agent.status === 'rejected') throw agent.reason
  if (shots.status === 'rejected') throw shots.reason
  const sandbox = agent.value
  sandboxes = [sandbox.identity, shots.value.identity].filter(identity => identity !== null).join('\n')
  await record(adopted !== null)
  const snapshots = new Snapshots(shots.value, startShots, error =>
    deps.log('error', 'the files of a run could not be looked at', { error: errorText(error) }),
  )

  const filling: Filling = { deps, claim, run, base, kept, sandbox, snapshots, last, signal }
  const filled = adopted === null ? await fillWorkspace(filling) : await takeOver(filling)
  if (adopted === null) await record(true)
  const known = last === null ? [] : [last.tree, ...(last.head === null ? [] : [last.head])]
  const packer = new Packer(deps.git, kept, snapshots, deps.checkpoints.max_pack_bytes, base?.sha ?? null, tip, known)
  const checkpoints = stack.use(new Checkpoints(deps, claim, snapshots, packer, filled.stored))
  void filled.snapshot.then(snapshot => snapshot && checkpoints.opened(snapshot, filled.seq, filled.through_seq, filled.anew))
  const running = stack.move()
  return { sandbox, checkpoints, restored: filled.restored, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** The folder of the turn before, under the name of this owner; null when it is not on this machine any more, or not where it can be had. */
function adoptFolder(deps: WorkerDeps, claim: Claim, run: RunRow): string | null {
  if (run.workspace === null || run.workspace_host !== deps.host || !existsSync(run.workspace)) return null
  const workspace = join(deps.folders.workspaces, `${run.id}-${claim.epoch}`)
  try {
    adoptWorkspace(run.workspace, workspace)
    return workspace
  } catch (error) {
    // Removed at this moment, or on another disk: what was kept of it is there.
    if (['ENOENT', 'EXDEV', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/** Whether the files of a run that was worked on before have to be brought here first. */
export function isElsewhere(deps: WorkerDeps, run: RunRow): boolean {
  const begun = run.steps > 0 || run.forked_at_seq !== null
  return begun && (run.workspace === null || run.workspace_host !== deps.host || !existsSync(run.workspace))
}
