import type { Db } from '../database.ts'

export type NewForgeDelivery = {
  organization_id: number
  forge_id: number
  delivery: string
  event: string
  once: string | null
  subject: string | null
  /** JSON text of what is to be done; null: nothing, for the reason of `outcome`. */
  task: string | null
  outcome: string | null
}

/** Writes down what a forge has told, and with a task that it is to be done now. False: it was told already. */
export async function insertForgeDelivery(db: Db, delivery: NewForgeDelivery): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'insert_forge_delivery',
    text: `insert into forge_deliveries (organization_id, forge_id, delivery, event, once, subject, task, outcome, next_attempt_at)
      select $1, id, $3, $4, $5, $6, $7, $8, case when $7::text is not null then now() end from forges where organization_id = $1 and id = $2
      on conflict do nothing`,
    values: [
      ...[delivery.organization_id, delivery.forge_id, delivery.delivery, delivery.event, delivery.once, delivery.subject],
      ...[delivery.task, delivery.outcome],
    ],
  })
  return rowCount === 1
}

export type ClaimedTask = {
  organization_id: number
  forge_id: number
  delivery: string
  task: string
  tries: number
  run_id: number | null
  /** Seconds since it was told. */
  age: number
}

/**
 * Takes what is due, of all organizations, for `lease_seconds`. Requests about one issue are done one after the other, so that the second finds
 * the run of the first.
 */
export async function claimForgeTasks(db: Db, limit: number, lease_seconds: number): Promise<ClaimedTask[]> {
  const { rows } = await db.query<ClaimedTask>({
    name: 'claim_forge_tasks',
    text: `update forge_deliveries d set tries = tries + 1, next_attempt_at = now() + make_interval(secs => $2)
      where (d.forge_id, d.delivery) in (
        select forge_id, delivery from forge_deliveries d where next_attempt_at <= now()
          and not exists (select from forge_deliveries e where e.forge_id = d.forge_id and e.subject = d.subject and d.run_id is null
            and e.run_id is null and e.next_attempt_at is not null and (e.received_at, e.delivery) < (d.received_at, d.delivery))
        order by next_attempt_at limit $1 for update skip locked)
      returning organization_id, forge_id, delivery, task, tries, run_id, extract(epoch from now() - received_at)::float8 as age`,
    values: [limit, lease_seconds],
  })
  return rows
}

/** What came of it. `task` null: it is over; otherwise that is done next, in `seconds`. `failed`: in vain; what gets on is counted from its beginning again. */
export async function settleForgeTask(
  db: Db,
  { organization_id, forge_id, delivery }: Pick<ClaimedTask, 'organization_id' | 'forge_id' | 'delivery'>,
  to: { task: string | null; seconds: number; outcome: string | null; run_id: number | null; failed?: true },
): Promise<void> {
  await db.query({
    name: 'settle_forge_task',
    text: `update forge_deliveries set task = $4, outcome = coalesce($6, outcome), run_id = coalesce($7, run_id), tries = case when $8 then tries else 0 end,
        next_attempt_at = case when $4::text is not null then now() + make_interval(secs => $5) end
      where organization_id = $1 and forge_id = $2 and delivery = $3`,
    values: [organization_id, forge_id, delivery, to.task, to.seconds, to.outcome, to.run_id, to.failed ?? false],
  })
}

/** The run that the last request about that issue went to. */
export async function findRunOfSubject(db: Db, organization_id: number, forge_id: number, subject: string): Promise<number | null> {
  const { rows } = await db.query<{ run_id: number }>({
    name: 'find_run_of_subject',
    text: `select run_id from forge_deliveries where organization_id = $1 and forge_id = $2 and subject = $3 and run_id is not null
      order by received_at desc limit 1`,
    values: [organization_id, forge_id, subject],
  })
  return rows[0]?.run_id ?? null
}

/** Forgets what was told so long ago that nobody tells it again. Answers how many. */
export async function deleteOldForgeDeliveries(db: Db, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete_old_forge_deliveries',
    text: `delete from forge_deliveries where (forge_id, delivery) in (select forge_id, delivery from forge_deliveries
      where received_at < now() - make_interval(days => $1) and next_attempt_at is null limit $2)`,
    values: [days, limit],
  })
  return rowCount ?? 0
}
