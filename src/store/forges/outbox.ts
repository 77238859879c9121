import { changedOne, type Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'

/**
 * Queues of what forges must show, one row for each thing: `change` counts its changes, `posted_change`
 * those that the forge has.
 */
export type OutboxTable = 'run_marks' | 'comment_mirrors'

export type OutboxItem = {
  organization_id: number
  id: number
  repository_id: number
  change: number
  /** What the forge shows; null: unknown. */
  posted: string | null
  tries: number
  epoch: number
}
export const outbox_columns = 'organization_id, id, repository_id, change, posted, tries, epoch'

type Claim = Pick<OutboxItem, 'organization_id' | 'id' | 'epoch'>

/**
 * Records that the forge has the item, or never will (`problem`). False: another process has claimed it
 * since, so it is unknown what the forge shows.
 */
export function settleOutboxItem(
  db: Db,
  table: OutboxTable,
  { organization_id, id, change, epoch }: Claim & Pick<OutboxItem, 'change'>,
  to: { posted: string | null; problem: string | null },
): Promise<boolean> {
  return changedOne(db, {
    name: `settle_${table}`,
    text: `update ${table}
      set posted_change = $3, posted = $5, problem = $6, tries = 0, lease_until = null,
        next_attempt_at = now()
      where organization_id = $1 and id = $2 and ${isHeldBy('$4')}`,
    values: [organization_id, id, change, epoch, to.posted, to.problem],
  })
}

/** Schedules the next attempt in `seconds`, with the problem of this one. */
export async function postponeOutboxItem(
  db: Db,
  table: OutboxTable,
  { organization_id, id, epoch }: Claim,
  to: { seconds: number; problem: string },
): Promise<void> {
  await db.query({
    name: `postpone_${table}`,
    text: `update ${table}
      set problem = $4, lease_until = null, next_attempt_at = now() + make_interval(secs => $5)
      where organization_id = $1 and id = $2 and ${isHeldBy('$3')}`,
    values: [organization_id, id, epoch, to.problem, to.seconds],
  })
}

/** Posts it once more, whatever the forge shows. */
export async function repostOutboxItem(
  db: Db,
  table: OutboxTable,
  organization_id: number,
  id: number,
): Promise<void> {
  await db.query({
    name: `repost_${table}`,
    text: `update ${table}
      set change = change + 1, posted = null
      where organization_id = $1 and id = $2`,
    values: [organization_id, id],
  })
}

/** Removes an item that has nothing more to post. */
export async function deleteOutboxItem(
  db: Db,
  table: OutboxTable,
  organization_id: number,
  id: number,
): Promise<void> {
  await db.query({
    name: `delete_${table}`,
    text: `delete from ${table} where organization_id = $1 and id = $2`,
    values: [organization_id, id],
  })
}
