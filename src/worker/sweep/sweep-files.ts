import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../../core/log.ts'
import { CACHE_IDLE_MS, sweepObjectCaches } from '../../git/objects/object-cache.ts'
import { allOf, isHomeOf, removeWorkspaces } from '../../sandbox/workspaces/workspaces.ts'
import { findOwners, forgetWorkspace, listStaleWorkspaces } from '../../store/workspaces/workspaces.ts'
import type { WorkerServices } from '../services.ts'

type Deps = Pick<WorkerServices, 'db' | 'folder_id' | 'users'>

/**
 * A workspace whose files are all in checkpoints stays for seconds, in case the next turn starts at once; any
 * other stays for a day, because it has the only copy.
 */
const STALE = { seconds: 30, hours: 24 }

/**
 * Removes the workspaces in this data folder of runs that have ended. Later turns restore them from
 * checkpoints.
 */
export async function sweepWorkspaces({ db, folder_id, users }: Deps): Promise<void> {
  const released: string[] = []
  for (const { organization_id, id, workspace } of await listStaleWorkspaces(db, folder_id, STALE)) {
    // Released first: a turn that starts at this moment does not adopt a folder that is being removed.
    if (await forgetWorkspace(db, organization_id, id, workspace)) released.push(...allOf(workspace))
  }
  await removeWorkspaces(released, users.sandbox)
}

/**
 * Removes folders in this data folder that no longer belong to a run: of dead workers, and of runs that moved
 * to another machine or were deleted.
 */
export async function sweepFolders(
  deps: Deps & Pick<WorkerServices, 'log' | 'git' | 'folders'>,
): Promise<void> {
  const { db, git, folders, folder_id, users, log } = deps
  const found = (await readdir(folders.workspaces)).flatMap(name => {
    const [, run_id, epoch] =
      /^(\d+)-(\d+)(?:\.shadow|(?:\.(?:prepared|check))?(?:\.home)?(?:\.[0-9a-f]{16}|\.on\.\d+-(?:[0-9a-f]{40}|env-[0-9a-f]{32}))?)$/.exec(
        name,
      ) ?? []
    return run_id === undefined
      ? []
      : [{ path: join(folders.workspaces, name), run_id: Number(run_id), epoch: Number(epoch) }]
  })
  const owners = new Map(
    (await findOwners(db, [...new Set(found.map(({ run_id }) => run_id))])).map(owner => [owner.id, owner]),
  )
  const unneeded = found.filter(({ path, run_id, epoch }) => {
    const run = owners.get(run_id)
    const kept = run?.workspace != null && run.workspace_host === folder_id ? run.workspace : null
    const its_own = kept !== null && (kept === path || isHomeOf(path, kept))
    return !its_own && !(run?.owned && epoch >= run.epoch)
  })
  await removeWorkspaces(
    unneeded.map(({ path }) => path),
    users.sandbox,
  ).catch(error => log('error', 'folders could not be removed', { error: errorText(error) }))
  await sweepObjectCaches(git, CACHE_IDLE_MS)
}
