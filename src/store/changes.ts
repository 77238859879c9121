import { RunDiff } from '../contract/runs/run-diff.ts'
import { changedOne, type Db } from './database.ts'
import { isHeldBy } from './fence.ts'
import { parseColumn } from './json-column.ts'
import { insertSql, replacing, statement } from './statement.ts'

type ChangeRow = {
  base_sha: string
  head_sha: string
  files_changed: number
  additions: number
  deletions: number
  files: RunDiff['files']
  patch: string
  patch_truncated: boolean
}

/** Returns the change of a run as last recorded; undefined while it has changed no file. */
export async function getChange(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<ChangeRow | undefined> {
  const { rows } = await db.query<Omit<ChangeRow, 'files'> & { files: string }>({
    name: 'get_change',
    text: `select base_sha, head_sha, files_changed, additions, deletions, files, patch, patch_truncated
      from changes
      where organization_id = $1 and run_id = $2`,
    values: [organization_id, run_id],
  })
  return rows[0] && { ...rows[0], files: parseColumn(RunDiff.shape.files, rows[0].files) }
}

const replaced = replacing(
  'base_sha',
  'head_sha',
  'files_changed',
  'additions',
  'deletions',
  'files',
  'patch',
  'patch_truncated',
)

/** Saves the whole change of a run so far, and its head on the run itself, under the fence. */
export function saveChange(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number,
  change: ChangeRow,
): Promise<boolean> {
  return changedOne(
    db,
    statement(
      'save_change',
      bind => `with run as (
          update runs
          set head_sha = ${bind(change.head_sha)}
          where organization_id = ${bind(organization_id)} and id = ${bind(run_id)} and ${isHeldBy(bind(epoch))}
          returning id, organization_id
        )
        ${insertSql(
          bind,
          'changes',
          {
            run_id,
            organization_id,
            base_sha: change.base_sha,
            head_sha: change.head_sha,
            files_changed: change.files_changed,
            additions: change.additions,
            deletions: change.deletions,
            files: JSON.stringify(change.files),
            patch: change.patch,
            patch_truncated: change.patch_truncated,
          },
          {
            select: () => 'from run',
            end: `on conflict (run_id) do update set ${replaced}, updated_at = now()`,
          },
        )}`,
    ),
  )
}

/**
 * Records under the fence that the branch has this commit on the remote. Records nothing for a branch that
 * was abandoned meanwhile. If the organization has forges, marks of the run's status are due for this commit,
 * and for its earlier commits.
 */
export function recordPush(
  db: Db,
  organization_id: number,
  run_id: number,
  epoch: number,
  { branch, sha }: { branch: string; sha: string },
): Promise<boolean> {
  return changedOne(db, {
    name: 'record_push',
    text: `with pushed as (
        update runs
        set pushed_sha = $5
        where organization_id = $1 and id = $2 and ${isHeldBy('$3')} and branch = $4
        returning organization_id, id, repository_id
      ),
      marked as (
        insert into run_marks as m (organization_id, run_id, number, repository_id, head_sha, pushed)
        select organization_id, id, id, repository_id, $5, true
        from pushed
        where exists (select from forges f where f.organization_id = pushed.organization_id)
        on conflict (organization_id, number, head_sha) do update set pushed = true, change = m.change + 1
      ),
      before as (
        update run_marks m
        set change = change + 1
        from pushed
        where m.organization_id = pushed.organization_id and m.run_id = pushed.id and m.head_sha <> $5
      )
      select 1
      from pushed`,
    values: [organization_id, run_id, epoch, branch, sha],
  })
}

/**
 * Abandons the pushed branch of a run: later commits go to a branch with a new name. Returns false when it
 * has pushed none.
 */
export function abandonBranch(db: Db, organization_id: number, run_id: number): Promise<boolean> {
  return changedOne(db, {
    name: 'abandon_branch',
    text: `update runs
      set branch = null, abandoned_sha = pushed_sha, pushed_sha = null,
        abandoned_branches = abandoned_branches + 1, updated_at = now()
      where organization_id = $1 and id = $2 and branch is not null and pushed_sha is not null`,
    values: [organization_id, run_id],
  })
}
