import { changedOne, type Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { claimRows, type QueueTable } from '../queue/queue-table.ts'
import { insertRow, updateRow } from '../statement.ts'

type NewForgeDelivery = {
  organization_id: number
  forge_id: number
  delivery: string
  event: string
  once: string | null
  subject: string | null
  /** The task as JSON text; null: no task, because of `outcome`. */
  task: string | null
  outcome: string | null
}

/** Records what a forge has reported; a task is due now. False: it was recorded before. */
export function insertForgeDelivery(db: Db, delivery: NewForgeDelivery): Promise<boolean> {
  return changedOne(
    db,
    insertRow(
      'forge_deliveries',
      {
        organization_id: delivery.organization_id,
        forge_id: delivery.forge_id,
        delivery: delivery.delivery,
        event: delivery.event,
        once: delivery.once,
        subject: delivery.subject,
        task: delivery.task,
        outcome: delivery.outcome,
        next_attempt_at: bind => `case when ${bind(delivery.task)}::text is not null then now() end`,
      },
      {
        select: bind =>
          `from forges where organization_id = ${bind(delivery.organization_id)} and id = ${bind(delivery.forge_id)}`,
        end: 'on conflict do nothing',
      },
    ),
  )
}

export type ClaimedTask = {
  organization_id: number
  forge_id: number
  delivery: string
  task: string
  tries: number
  epoch: number
  run_id: number | null
  /** Seconds since it was received. */
  age: number
}

/**
 * Requests about one issue are handled one after the other, so that the second finds the run of the first.
 */
const forge_tasks: QueueTable = {
  name: 'forge_deliveries',
  key: 'forge_id, delivery',
  ready: `not exists (select from forge_deliveries e where e.forge_id = q.forge_id and e.subject = q.subject and q.run_id is null
    and e.run_id is null and e.next_attempt_at is not null and (e.received_at, e.delivery) < (q.received_at, q.delivery))`,
  returning:
    'organization_id, forge_id, delivery, task, tries, epoch, run_id, extract(epoch from now() - received_at)::float8 as age',
}

export const claimForgeTasks = (db: Db, limit: number, lease_seconds: number): Promise<ClaimedTask[]> =>
  claimRows(db, forge_tasks, limit, lease_seconds)

/**
 * What follows an attempt: `task` in `seconds`, or nothing (null). `failed`: it did not succeed, so the next
 * delay is longer.
 */
type TaskSettlement = {
  task: string | null
  seconds: number
  outcome: string | null
  run_id: number | null
  failed?: true
}

/**
 * Records the outcome of a task, and when it is due again. False: another process has claimed it since;
 * nothing was written.
 */
export function settleForgeTask(
  db: Db,
  {
    organization_id,
    forge_id,
    delivery,
    epoch,
  }: Pick<ClaimedTask, 'organization_id' | 'forge_id' | 'delivery' | 'epoch'>,
  to: TaskSettlement,
): Promise<boolean> {
  return changedOne(
    db,
    updateRow('forge_deliveries', {
      where: { organization_id, forge_id, delivery },
      and: bind => isHeldBy(bind(epoch)),
      set: {
        task: to.task,
        outcome: bind => `coalesce(${bind(to.outcome)}, outcome)`,
        run_id: bind => `coalesce(${bind(to.run_id)}, run_id)`,
        tries: bind => `case when ${bind(to.failed ?? false)} then tries else 0 end`,
        lease_until: null,
        next_attempt_at: bind =>
          `case when ${bind(to.task)}::text is not null then now() + make_interval(secs => ${bind(to.seconds)}) end`,
      },
    }),
  )
}

/** Returns the run that handled the latest request about that issue. */
export async function findRunOfSubject(
  db: Db,
  organization_id: number,
  forge_id: number,
  subject: string,
): Promise<number | null> {
  const { rows } = await db.query<{ run_id: number }>({
    name: 'find_run_of_subject',
    text: `select run_id
      from forge_deliveries
      where organization_id = $1 and forge_id = $2 and subject = $3 and run_id is not null
      order by received_at desc
      limit 1`,
    values: [organization_id, forge_id, subject],
  })
  return rows[0]?.run_id ?? null
}

/** Deletes deliveries that are too old to come again. Returns how many. */
export async function deleteOldForgeDeliveries(db: Db, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete_old_forge_deliveries',
    text: `delete from forge_deliveries
      where (forge_id, delivery) in (
        select forge_id, delivery
        from forge_deliveries
        where received_at < now() - make_interval(days => $1) and next_attempt_at is null
        limit $2
      )`,
    values: [days, limit],
  })
  return rowCount ?? 0
}
