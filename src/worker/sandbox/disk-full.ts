import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { TurnOutcome } from '../../core/runs/outcome.ts'
import { foldersOf, removeWithAll, workspaceName } from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { forgetWorkspace } from '../../store/workspaces/workspaces.ts'
import type { WorkerServices } from '../services.ts'

/** Messages of the kernel, git and the shell. */
const FULL = /No space left on device|Disk quota exceeded|\b(ENOSPC|EDQUOT)\b/
export const DISK_FULL = 'disk_full'
/** Phases in which the service's own work failed: the message does not come from the agent or the model. */
const OWN_PHASES = ['clone', 'sandbox', 'push', 'workspace']

/** Changes the reason of a failure to `disk_quota` if its cause is a full disk. */
export function namedDiskFull(outcome: TurnOutcome): TurnOutcome {
  if (outcome.kind !== 'failed' || !OWN_PHASES.includes(outcome.phase) || !FULL.test(outcome.message))
    return outcome
  const message = `There is no space left for the files of the run. ${outcome.message}`
  return { ...outcome, reason: 'disk_quota', code: DISK_FULL, message }
}

/** Returns why the disk of the workspaces counts as full; null when at least `reserve_bytes` are free. */
export async function diskProblem(workspaces: string, reserve_bytes: number): Promise<string | null> {
  const { bavail, bsize } = await statfs(workspaces)
  if (bavail * bsize >= reserve_bytes) return null
  return `less than ${Math.ceil(reserve_bytes / 1024 ** 2)} MiB are free on the disk of the workspaces (AGENTRUN_DISK_RESERVE_BYTES)`
}

/** Returns whether an error of the host's file system reports a full disk. */
export const isDiskFull = (error: unknown): boolean => FULL.test((error as { code?: string }).code ?? '')

/**
 * Removes the files of a run that ended for lack of space, because other runs need it, and of a tool call,
 * which nothing continues. Commits of the run are in the mirror.
 */
export async function giveSpaceBack(
  deps: Pick<WorkerServices, 'db' | 'folders' | 'users'>,
  run: RunRow,
  outcome: TurnOutcome,
): Promise<void> {
  const full = outcome.kind === 'failed' && outcome.code === DISK_FULL
  if (!full && run.source_type !== 'TOOL') return
  const { workspaces } = deps.folders
  for (const name of foldersOf(workspaces, workspaceName(run.id, run.epoch, null))) {
    const workspace = join(workspaces, name)
    // Released first: a turn that begins meanwhile must not find a folder that is being emptied.
    if (await forgetWorkspace(deps.db, run.organization_id, run.id, workspace))
      await removeWithAll(workspace, deps.users.sandbox)
  }
}
