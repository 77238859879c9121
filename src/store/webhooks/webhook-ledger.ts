import type { Window } from '../../core/paging.ts'
import { GIVE_UP_SECONDS } from '../../core/webhooks/webhook-retries.ts'
import { changedOne, type Db, firstRow, onlyRow } from '../database.ts'
import { conditionsOf, listPage } from '../list-page.ts'
import { channels } from '../notify.ts'
import { MAX_PENDING, wake_deliverers } from './webhook-deliveries.ts'

type DeliveryState = 'pending' | 'delivered' | 'failed'
export type DeliveryRow = {
  id: number
  organization_id: number
  run_id: number
  /** Null: the organization's webhook. */
  url: string | null
  message_id: string
  event_seq: number
  type: string
  state: DeliveryState
  error: string | null
  attempts: number
  last_status: number | null
  last_latency_ms: number | null
  next_attempt_at: Date | null
  created_at: Date
  finished_at: Date | null
}
export type WholeDeliveryRow = DeliveryRow & {
  body: string
  webhooks: string | null
  repository_id: number | null
}
type AttemptRow = {
  n: number
  url: string
  started_at: Date
  finished_at: Date | null
  status: number | null
  error: string | null
  latency_ms: number | null
  answer: string | null
}
const run_id = 'coalesce(d.run_id, d.deleted_run_id)'
const columns = `d.id, d.organization_id, ${run_id} as run_id, d.url, d.message_id, d.event_seq, d.type, d.state, d.error, d.attempts, d.last_status,
  d.last_latency_ms, d.next_attempt_at, d.created_at, d.finished_at`

/** The webhooks of a run `r`, or of one that is deleted. */
const targets = 'coalesce(r.webhooks, d.deleted_run_webhooks)'

type DeliveryFilter = {
  state?: DeliveryState[] | undefined
  agent_run_id?: number[] | undefined
  type?: string[] | undefined
}

/** Returns a page of deliveries, newest first, and the count of all. Absent filters do not narrow. */
export async function listDeliveries(
  db: Db,
  organization_id: number,
  filter: DeliveryFilter,
  window: Window,
): Promise<{ rows: DeliveryRow[]; total: number }> {
  const { oneOf, where, values } = conditionsOf('d.organization_id = $1', organization_id)
  oneOf('d.state', 'text', filter.state)
  oneOf(run_id, 'bigint', filter.agent_run_id)
  oneOf('d.type', 'text', filter.type)
  return listPage(
    db,
    { columns, from: 'webhook_deliveries d', where: where(), key: 'd.id', order: 'desc' },
    values,
    window,
  )
}

/** Returns a delivery with its message and the webhooks of its run. */
export function getDelivery(
  db: Db,
  organization_id: number,
  id: number,
): Promise<WholeDeliveryRow | undefined> {
  return firstRow<WholeDeliveryRow>(db, {
    name: 'get_webhook_delivery',
    text: `select ${columns}, d.body, ${targets} as webhooks,
        coalesce(r.repository_id, d.deleted_run_repository_id) as repository_id
      from webhook_deliveries d
      left join runs r on r.organization_id = d.organization_id and r.id = d.run_id
      where d.organization_id = $1 and d.id = $2`,
    values: [organization_id, id],
  })
}

/** Returns the newest attempts of a delivery, oldest first. */
export async function listAttempts(
  db: Db,
  organization_id: number,
  delivery_id: number,
  limit: number,
): Promise<AttemptRow[]> {
  const { rows } = await db.query<AttemptRow>({
    name: 'list_webhook_attempts',
    text: `select n, url, started_at, finished_at, status, error, latency_ms, answer
      from webhook_attempts
      where organization_id = $1 and delivery_id = $2
      order by n desc
      limit $3`,
    values: [organization_id, delivery_id, limit],
  })
  return rows.toReversed()
}

/**
 * Queues a delivery again, for a day, with the same message id. False: an attempt is running, or there is no
 * such delivery.
 */
export function requeueDelivery(tx: Db, organization_id: number, id: number): Promise<boolean> {
  return changedOne(tx, {
    name: 'requeue_webhook_delivery',
    text: `with queued as (
        update webhook_deliveries
        set state = 'pending', error = null, finished_at = null, tries = 0, next_attempt_at = now(),
          lease_until = null, give_up_at = now() + make_interval(secs => ${GIVE_UP_SECONDS})
        where organization_id = $1 and id = $2 and (lease_until is null or lease_until < now())
        returning id
      )
      select pg_notify('${channels.webhook}', '')
      from queued`,
    values: [organization_id, id],
  })
}

type FailedFilter = { since: Date | null; until: Date | null; type: string | null }

/**
 * Queues the earliest failed deliveries again as `requeueDelivery` does, in the order of each run: at most
 * `limit`, and no more than the queue has room for. `without`: those that no longer have a recipient. The
 * caller's transaction holds the organization's row.
 */
export function requeueFailed(
  tx: Db,
  organization_id: number,
  filter: FailedFilter,
  limit: number,
): Promise<{ queued: number; own: number; left: number; without: number }> {
  return onlyRow<{ queued: number; own: number; left: number; without: number }>(tx, {
    name: 'requeue_failed_deliveries',
    text: `with failed as (
        select d.id, d.run_id, d.url,
          case when d.url is null then exists (select from webhooks where organization_id = $1 and enabled) else exists (
            select
            from json_array_elements(${targets}::json) t
            where t ->> 'url' = d.url
          ) end as wanted
        from webhook_deliveries d
        left join runs r on r.organization_id = d.organization_id and r.id = d.run_id
        where d.organization_id = $1
          and d.state = 'failed'
          and ($2::timestamptz is null or d.created_at >= $2)
          and ($3::timestamptz is null or d.created_at < $3)
          and ($4::text is null or d.type = $4)
      ),
      room as (
        select greatest(
          0,
          ${MAX_PENDING} - (
            select count(*)
            from webhook_deliveries
            where organization_id = $1 and state = 'pending'
          )
        ) as free
      ),
      chosen as (
        select id, run_id, url
        from failed
        where wanted
        order by id
        limit (select least($5, free) from room)
      ),
      queued as (
        update webhook_deliveries d
        set state = 'pending', error = null, finished_at = null, tries = 0, lease_until = null,
          give_up_at = now() + make_interval(secs => ${GIVE_UP_SECONDS}),
          next_attempt_at = case when not exists (
            select
            from webhook_deliveries b
            where b.organization_id = $1
              and b.run_id = d.run_id
              and b.url is not distinct from d.url
              and b.id < d.id
              and (b.state = 'pending' or b.id in (select id from chosen))
          ) then now() end
        from chosen
        where d.organization_id = $1 and d.id = chosen.id
        returning d.url
      )
      select (select count(*) from queued) as queued, (select count(*) from queued where url is null) as own,
        (select count(*) from failed where wanted) - (select count(*) from queued) as left,
        (select count(*) from failed where not wanted) as without, (${wake_deliverers})`,
    values: [organization_id, filter.since, filter.until, filter.type, limit],
  })
}
