import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../core/log.ts'
import { sweepKept } from '../git/kept-repository.ts'
import { removeWorkspace } from '../sandbox/workspaces.ts'
import { findOwners, forgetWorkspace, listStaleWorkspaces } from '../store/workspaces.ts'
import type { WorkerDeps } from './settings.ts'

/** A workspace whose files are all kept stays for a moment, for who answers at once; any other for a day, because it is the only one. */
const STALE = { seconds: 30, hours: 24 }
const KEPT_IDLE_MS = 10 * 60_000

/** Removes the workspaces on this machine of runs that have ended. What comes later is restored from what was kept. */
export async function sweepWorkspaces({ db, host, users }: Pick<WorkerDeps, 'db' | 'host' | 'users'>): Promise<void> {
  for (const { organization_id, id, workspace } of await listStaleWorkspaces(db, host, STALE)) {
    // Let go of first: a new turn that comes at this moment does not take a folder that is going.
    if (await forgetWorkspace(db, organization_id, id, workspace)) await removeWorkspace(workspace, users.sandbox)
  }
}

/** Removes folders of this process that are no run's any more: owners that died, runs that went to another machine or were deleted. */
export async function sweepFolders(deps: Pick<WorkerDeps, 'db' | 'git' | 'folders' | 'users' | 'log'>): Promise<void> {
  const { db, git, folders, users, log } = deps
  const found = (await readdir(folders.workspaces)).flatMap(name => {
    const [, run_id, epoch] = /^(\d+)-(\d+)(?:\.shadow)?$/.exec(name) ?? []
    return run_id === undefined ? [] : [{ path: join(folders.workspaces, name), run_id: Number(run_id), epoch: Number(epoch) }]
  })
  const owners = new Map((await findOwners(db, [...new Set(found.map(({ run_id }) => run_id))])).map(owner => [owner.id, owner]))
  for (const { path, run_id, epoch } of found) {
    const run = owners.get(run_id)
    const needed = run !== undefined && (run.workspace === path || (run.owned && epoch >= run.epoch))
    if (needed) continue
    await removeWorkspace(path, users.sandbox).catch(error =>
      log('error', 'a folder could not be removed', { run_id, error: errorText(error) }),
    )
  }
  await sweepKept(git, KEPT_IDLE_MS)
}
