import type { Db } from '../database.ts'
import { type OutboxItem, outbox_columns } from '../forges/outbox.ts'
import { claimRows, type QueueTable } from '../queue/queue-table.ts'

export type ClaimedMirror = OutboxItem & { comment_id: number; pull_request_id: number }

/** Claims comments to be mirrored, of all organizations, for `lease_seconds`: those of one pull request one after the other, in order. */
export async function claimCommentMirrors(db: Db, limit: number, lease_seconds: number): Promise<ClaimedMirror[]> {
  const { rows } = await db.query<ClaimedMirror>({
    name: 'claim_comment_mirrors',
    text: `update comment_mirrors set tries = tries + 1, try_at = now() + make_interval(secs => $2)
      where (organization_id, id) in (
        select organization_id, id from comment_mirrors m where said < change and try_at <= now()
          and not exists (select from comment_mirrors e where e.organization_id = m.organization_id and e.pull_request_id = m.pull_request_id
            and e.said < e.change and e.id < m.id)
        order by try_at limit $1 for update skip locked)
      returning ${to_tell_columns}, comment_id, pull_request_id`,
    values: [limit, lease_seconds],
  })
  return rows
}

export const claimCommentMirrors = (db: Db, limit: number, lease_seconds: number): Promise<ClaimedMirror[]> =>
  claimRows(db, comment_mirrors, limit, lease_seconds)
