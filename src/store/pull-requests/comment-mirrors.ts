import type { Db } from '../database.ts'
import { type OutboxItem, outbox_columns } from '../forges/outbox.ts'
import { claimRows, type QueueTable } from '../queue/queue-table.ts'

export type ClaimedMirror = OutboxItem & { comment_id: number; pull_request_id: number }

/** The comments of one pull request are mirrored one after the other, in order. */
const comment_mirrors: QueueTable = {
  name: 'comment_mirrors',
  key: 'organization_id, id',
  ready: `posted_change < change and not exists (select from comment_mirrors e where e.organization_id = q.organization_id
    and e.pull_request_id = q.pull_request_id and e.posted_change < e.change and e.id < q.id)`,
  returning: `${outbox_columns}, comment_id, pull_request_id`,
}

export const claimCommentMirrors = (db: Db, limit: number, lease_seconds: number): Promise<ClaimedMirror[]> =>
  claimRows(db, comment_mirrors, limit, lease_seconds)
