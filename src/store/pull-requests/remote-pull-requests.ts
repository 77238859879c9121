import type { RepositoryRow } from '../access/repositories.ts'
import { allRows, changedOne, type Db, firstRow } from '../database.ts'
import { type PullRequestRow, type PullRequestState, pull_request_columns } from './pull-requests.ts'

/** The state of a pull request on its forge. */
type RemoteMirror = { state: PullRequestState; merge_sha: string | null; merged_at: Date | null }

/**
 * Records number and address of the pull request on its forge. Returns false when it already has a number
 * there.
 */
export function recordRemote(
  db: Db,
  organization_id: number,
  id: number,
  remote: { number: number; url: string; state: PullRequestState },
): Promise<boolean> {
  return changedOne(db, {
    name: 'record_remote_pull_request',
    text: `update pull_requests
      set remote_number = $3, remote_url = $4, remote_draft = $5, remote_seen_at = now()
      where organization_id = $1 and id = $2 and remote_number is null`,
    values: [organization_id, id, remote.number, remote.url, remote.state === 'draft'],
  })
}

/**
 * Copies the state of the pull request from its forge. Returns false when it is already recorded, or the pull
 * request is merged here.
 */
export function mirrorRemote(
  db: Db,
  organization_id: number,
  id: number,
  seen: RemoteMirror,
): Promise<boolean> {
  return changedOne(db, {
    name: 'mirror_remote_pull_request',
    text: `update pull_requests
      set state = $3, remote_draft = ($3 = 'draft'), held_back = false, merge_sha = $4, merged_at = $5,
        remote_seen_at = now(), updated_at = now(),
        merge_attempts = case when $3 = 'merged' then '{}' else merge_attempts end
      where organization_id = $1
        and id = $2
        and remote_number is not null
        and state <> 'merged'
        and state <> $3`,
    values: [organization_id, id, seen.state, seen.merge_sha, seen.merged_at],
  })
}

/** Records that it was marked as a draft on the forge, or as ready. */
export async function recordRemoteDraft(
  db: Db,
  organization_id: number,
  id: number,
  draft: boolean,
): Promise<void> {
  await db.query({
    name: 'record_remote_draft',
    text: `update pull_requests
      set remote_draft = $3
      where organization_id = $1 and id = $2 and remote_number is not null`,
    values: [organization_id, id, draft],
  })
}

/** Returns the pull request of that number on the forge of its repository. */
export function findRemote(
  db: Db,
  organization_id: number,
  repository_id: number,
  number: number,
): Promise<PullRequestRow | undefined> {
  return firstRow<PullRequestRow>(db, {
    name: 'find_remote_pull_request',
    text: `select ${pull_request_columns}
      from pull_requests
      where organization_id = $1 and repository_id = $2 and remote_number = $3`,
    values: [organization_id, repository_id, number],
  })
}

/** Returns whether any pull request of the repository is at that commit. */
export async function isHead(
  db: Db,
  organization_id: number,
  repository_id: number,
  head_sha: string,
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'is_head_of_pull_request',
    text: `select 1
      from pull_requests
      where organization_id = $1 and repository_id = $2 and head_sha = $3
      limit 1`,
    values: [organization_id, repository_id, head_sha],
  })
  return rows.length > 0
}

/** Returns whether a run of the repository writes to that branch, or has proposed it. */
export async function isBranchOfRun(
  db: Db,
  organization_id: number,
  repository_id: number,
  branch: string,
): Promise<boolean> {
  const { rows } = await db.query({
    name: 'is_branch_of_run',
    text: `select 1
      from runs
      where organization_id = $1 and repository_id = $2 and branch = $3
      union all select 1
      from pull_requests
      where organization_id = $1 and repository_id = $2 and head_branch = $3
      limit 1`,
    values: [organization_id, repository_id, branch],
  })
  return rows.length > 0
}

/**
 * Claims repositories whose forge was not polled for this number of seconds, of all connected organizations.
 * They count as polled from now on.
 */
export function takeDueRepositories(db: Db, seconds: number, limit: number): Promise<RepositoryRow[]> {
  return allRows<RepositoryRow>(db, {
    name: 'take_due_repositories',
    text: `update repositories
      set forge_seen_at = now()
      where id in (
        select id
        from repositories r
        where removed_at is null
          and not archived
          and coalesce(forge_seen_at, '-infinity') < now() - make_interval(secs => $1)
          and exists (select from forges f where f.organization_id = r.organization_id)
        order by forge_seen_at nulls first
        limit $2
        for update skip locked
      )
      returning *`,
    values: [seconds, limit],
  })
}

/**
 * Records up to when the forge was polled. Returns false when another process has recorded a different time
 * since `from`.
 */
export function recordSeenUntil(
  db: Db,
  organization_id: number,
  id: number,
  { from, until }: { from: Date | null; until: Date },
): Promise<boolean> {
  return changedOne(db, {
    name: 'record_seen_until',
    text: `update repositories
      set forge_seen_until = $4
      where organization_id = $1 and id = $2 and forge_seen_until is not distinct from $3::timestamptz`,
    values: [organization_id, id, from, until],
  })
}

/**
 * Claims open pull requests on forges that were not synced for this number of seconds, of all organizations:
 * those with an active run, and others. They count as synced from now on.
 */
export function takeDueRemotes(
  db: Db,
  seconds: { active: number; others: number },
  limit: number,
): Promise<PullRequestRow[]> {
  return allRows<PullRequestRow>(db, {
    name: 'take_due_remote_pull_requests',
    text: `update pull_requests
      set remote_seen_at = now()
      where id in (
        select p.id
        from pull_requests p
        left join runs r on r.organization_id = p.organization_id and r.id = p.run_id
        where p.remote_number is not null
          and p.state in ('open', 'draft')
          and p.remote_seen_at < now() - make_interval(
            secs => case when r.status in (
            'queued', 'starting', 'running', 'waiting'
          ) then $1::int else $2::int end
          )
        order by p.remote_seen_at
        limit $3
        for update of p skip locked
      )
      returning ${pull_request_columns}`,
    values: [seconds.active, seconds.others, limit],
  })
}
