import { GIVE_UP_SECONDS } from '../core/webhook-retries.ts'
import { type Db, only } from './database.ts'
import { channels } from './notify.ts'

export type DeliveryState = 'pending' | 'delivered' | 'failed'
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
export type WholeDeliveryRow = DeliveryRow & { body: string; webhooks: string | null; repository_id: number | null }
export type AttemptRow = {
  n: number
  url: string
  started_at: Date
  finished_at: Date | null
  status: number | null
  error: string | null
  latency_ms: number | null
  answer: string | null
}
const columns = `d.id, d.organization_id, d.run_id, d.url, d.message_id, d.event_seq, d.type, d.state, d.error, d.attempts, d.last_status,
  d.last_latency_ms, d.next_attempt_at, d.created_at, d.finished_at`

export type DeliveryFilter = { state?: DeliveryState | undefined; agent_run_id?: number | undefined; type?: string | undefined }

/** Newest first. Absent filters do not narrow. */
export async function listDeliveries(
  db: Db,
  organization_id: number,
  filter: DeliveryFilter,
  skip: number,
  limit: number,
): Promise<{ rows: DeliveryRow[]; total: number }> {
  const where = `d.organization_id = $1 and ($2::text is null or d.state = $2) and ($3::bigint is null or d.run_id = $3) and ($4::text is null or d.type = $4)`
  const values = [organization_id, filter.state ?? null, filter.agent_run_id ?? null, filter.type ?? null]
  const page = await db.query<DeliveryRow>({
    name: 'list_webhook_deliveries',
    text: `select ${columns} from webhook_deliveries d where ${where} order by d.id desc limit $5 offset $6`,
    values: [...values, limit, skip],
  })
  const count = await db.query<{ total: number }>({
    name: 'count_webhook_deliveries',
    text: `select count(*) as total from webhook_deliveries d where ${where}`,
    values,
  })
  return { rows: page.rows, total: only(count.rows).total }
}

/** With what is sent, and where the run reports. */
export async function getDelivery(db: Db, organization_id: number, id: number): Promise<WholeDeliveryRow | undefined> {
  const { rows } = await db.query<WholeDeliveryRow>({
    name: 'get_webhook_delivery',
    text: `select ${columns}, d.body, r.webhooks, r.repository_id from webhook_deliveries d
      join runs r on r.organization_id = d.organization_id and r.id = d.run_id where d.organization_id = $1 and d.id = $2`,
    values: [organization_id, id],
  })
  return rows[0]
}

/** The newest attempts of a delivery, in their order. */
export async function listAttempts(db: Db, organization_id: number, delivery_id: number, limit: number): Promise<AttemptRow[]> {
  const { rows } = await db.query<AttemptRow>({
    name: 'list_webhook_attempts',
    text: `select n, url, started_at, finished_at, status, error, latency_ms, answer from webhook_attempts
      where organization_id = $1 and delivery_id = $2 order by n desc limit $3`,
    values: [organization_id, delivery_id, limit],
  })
  return rows.toReversed()
}

/** Puts a delivery into the queue again, for a day, with the id that it has. False: an attempt is on its way, or there is none. */
export async function requeueDelivery(tx: Db, organization_id: number, id: number): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'requeue_webhook_delivery',
    text: `with queued as (
        update webhook_deliveries set state = 'pending', error = null, finished_at = null, tries = 0, next_attempt_at = now(), lease_until = null,
          give_up_at = now() + make_interval(secs => ${GIVE_UP_SECONDS})
        where organization_id = $1 and id = $2 and (lease_until is null or lease_until < now()) returning id)
      select pg_notify('${channels.webhook}', '') from queued`,
    values: [organization_id, id],
  })
  return rowCount === 1
}
