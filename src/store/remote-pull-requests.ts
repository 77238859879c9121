import type { Db } from './database.ts'
import type { PullRequestState } from './pull-requests.ts'

/** What a forge says of a pull request that is there. */
export type RemoteMirror = { state: PullRequestState; merge_sha: string | null; merged_at: Date | null }

/** Under which number and address the pull request is on its forge. False: it is there under a number already. */
export async function recordRemote(
  db: Db,
  organization_id: number,
  id: number,
  remote: { number: number; url: string; state: PullRequestState },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'record_remote_pull_request',
    text: `update pull_requests set remote_number = $3, remote_url = $4, remote_draft = $5, remote_seen_at = now()
      where organization_id = $1 and id = $2 and remote_number is null`,
    values: [organization_id, id, remote.number, remote.url, remote.state === 'draft'],
  })
  return rowCount === 1
}

/** Takes over where it stands on its forge. False: that is known already, or it is merged here. */
export async function mirrorRemote(db: Db, organization_id: number, id: number, seen: RemoteMirror): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'mirror_remote_pull_request',
    text: `update pull_requests set state = $3, remote_draft = ($3 = 'draft'), held_back = false, merge_sha = $4, merged_at = $5, remote_seen_at = now(), updated_at = now(),
        merge_attempts = case when $3 = 'merged' then '{}' else merge_attempts end
      where organization_id = $1 and id = $2 and remote_number is not null and state <> 'merged' and state <> $3`,
    values: [organization_id, id, seen.state, seen.merge_sha, seen.merged_at],
  })
  return rowCount === 1
}

/** It was made a draft there, or ready, because it is so here. */
export async function recordRemoteDraft(db: Db, organization_id: number, id: number, draft: boolean): Promise<void> {
  await db.query({
    name: 'record_remote_draft',
    text: 'update pull_requests set remote_draft = $3 where organization_id = $1 and id = $2 and remote_number is not null',
    values: [organization_id, id, draft],
  })
}
