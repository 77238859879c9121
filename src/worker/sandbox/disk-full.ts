import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { foldersOf, removeWithAll, workspaceName } from '../../sandbox/workspaces/workspaces.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { forgetWorkspace } from '../../store/workspaces/workspaces.ts'
import type { WorkerDeps } from '../settings.ts'
import type { End } from '../turns/end-turn.ts'

/** How the kernel, git and the shell say it. */
const FULL = /No space left on device|Disk quota exceeded|\b(ENOSPC|EDQUOT)\b/
export const DISK_FULL = 'disk_full'
/** Where it is the service's own work that failed, and not something that the agent or the model has said. */
const OURS = ['clone', 'sandbox', 'push', 'workspace']

/** Names a failure by its cause where that is a disk without space: `disk_quota`. */
export function namedDiskFull(end: End): End {
  if (end.kind !== 'failed' || !OURS.includes(end.phase) || !FULL.test(end.message)) return end
  return { ...end, reason: 'disk_quota', code: DISK_FULL, message: `There is no space left for the files of the run. ${end.message}` }
}

/** Why the disk of the workspaces is as good as full; null when at least `reserve_bytes` are free. */
export async function diskProblem(workspaces: string, reserve_bytes: number): Promise<string | null> {
  const { bavail, bsize } = await statfs(workspaces)
  if (bavail * bsize >= reserve_bytes) return null
  return `less than ${Math.ceil(reserve_bytes / 1024 ** 2)} MiB are free on the disk of the workspaces (AGENTRUN_DISK_RESERVE_BYTES)`
}

/** Of an error of the file system on the host. */
export const isDiskFull = (error: unknown): boolean => FULL.test((error as { code?: string }).code ?? '')

/**
 * Removes the files of a run that ended for lack of space, which the others need, and of a tool call, which nothing continues. What a run has
 * committed is in the mirror.
 */
export async function giveSpaceBack(deps: WorkerDeps, run: RunRow, end: End): Promise<void> {
  const full = end.kind === 'failed' && end.code === DISK_FULL
  if (!full && run.source_type !== 'TOOL') return
  const { workspaces } = deps.folders
  for (const name of foldersOf(workspaces, workspaceName(run.id, run.epoch, null))) {
    const workspace = join(workspaces, name)
    // Let go of first: a turn that begins meanwhile must not find a folder that is being emptied.
    if (await forgetWorkspace(deps.db, run.organization_id, run.id, workspace)) await removeWithAll(workspace, deps.users.sandbox)
  }
}
