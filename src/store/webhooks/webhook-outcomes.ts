import type { AttemptOutcome } from '../../core/webhooks/webhook-retries.ts'
import { type Db, onlyRow } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { statement } from '../statement.ts'
import type { ClaimedDelivery } from './webhook-deliveries.ts'

/**
 * Locks out new events of the organization until the transaction ends, so that what waits behind a delivery
 * is known. Comes first.
 */
export async function holdEvents(tx: Db, organization_id: number): Promise<void> {
  await tx.query({
    name: 'hold_events',
    text: 'select 1 from organizations where id = $1 for no key update',
    values: [organization_id],
  })
}

/**
 * How an attempt ends: with `again` the next one comes after `seconds`, unless the delivery's time is over.
 */
export type Settlement = { to: 'delivered' | 'failed' | 'again'; seconds: number; url: string } & Omit<
  AttemptOutcome,
  'refused' | 'retry_after'
>

/**
 * Settles an attempt. Undefined: another process has claimed the delivery since, or it was dropped; nothing
 * was written.
 */
export async function settleDelivery(
  tx: Db,
  { organization_id, id, epoch, n }: Pick<ClaimedDelivery, 'organization_id' | 'id' | 'epoch' | 'n'>,
  end: Settlement,
): Promise<'pending' | 'delivered' | 'failed' | undefined> {
  const { rows } = await tx.query<{ state: 'pending' | 'delivered' | 'failed' }>(
    statement('settle_webhook_delivery', bind => {
      const to = `${bind(end.to)}::text`
      const [error, status, latency_ms] = [end.error, end.status, end.latency_ms].map(bind)
      return `with settled as (
          update webhook_deliveries
          set state = case
              when ${to} <> 'again' then ${to}
              when give_up_at <= now() then 'failed'
              else 'pending'
            end,
            error = ${error}, last_status = ${status}, last_latency_ms = ${latency_ms}, lease_until = null,
            next_attempt_at = case
              when ${to} = 'again' and give_up_at > now()
                then least(now() + make_interval(secs => ${bind(end.seconds)}), give_up_at)
            end,
            finished_at = case when ${to} <> 'again' or give_up_at <= now() then now() end
          where organization_id = ${bind(organization_id)}
            and id = ${bind(id)}
            and ${isHeldBy(bind(epoch))}
            and state = 'pending'
          returning organization_id, id, state
        ),
        logged as (
          update webhook_attempts a
          set finished_at = now(), url = ${bind(end.url)}, status = ${status}, error = ${error},
            latency_ms = ${latency_ms}, answer = ${bind(end.answer)}
          from settled
          where a.organization_id = settled.organization_id
            and a.delivery_id = settled.id
            and a.n = ${bind(n)}
        )
        select state
        from settled`
    }),
  )
  return rows[0]?.state
}

/** Makes the earliest pending delivery of that run to that address due. */
export async function scheduleNext(
  tx: Db,
  organization_id: number,
  run_id: number,
  url: string | null,
): Promise<void> {
  await tx.query({
    name: 'schedule_next_delivery',
    text: `update webhook_deliveries
      set next_attempt_at = now()
      where organization_id = $1
        and next_attempt_at is null
        and id = (
          select min(id)
          from webhook_deliveries
          where organization_id = $1 and run_id = $2 and url is not distinct from $3 and state = 'pending'
        )`,
    values: [organization_id, run_id, url],
  })
}

/** Makes the first pending delivery of each run to the organization's webhook due now. */
export async function wakeDeliveries(tx: Db, organization_id: number): Promise<void> {
  await tx.query({
    name: 'wake_webhook_deliveries',
    text: `update webhook_deliveries d
      set next_attempt_at = now()
      where organization_id = $1
        and url is null
        and state = 'pending'
        and lease_until is null
        and (next_attempt_at is null or next_attempt_at > now())
        and not exists (
          select
          from webhook_deliveries b
          where b.organization_id = $1
            and b.run_id = d.run_id
            and b.url is null
            and b.state = 'pending'
            and b.id < d.id
        )`,
    values: [organization_id],
  })
}

/** Ends all pending deliveries to the organization's webhook, which is deleted. */
export async function dropDeliveries(tx: Db, organization_id: number, reason: string): Promise<void> {
  await tx.query({
    name: 'drop_webhook_deliveries',
    text: `update webhook_deliveries
      set state = 'failed', error = $2, finished_at = now(), next_attempt_at = null, lease_until = null
      where organization_id = $1 and url is null and state = 'pending'`,
    values: [organization_id, reason],
  })
}

/**
 * Records a successful attempt at the organization's webhook. Returns how many in a row had failed before it.
 */
export async function recordSuccess(tx: Db, organization_id: number): Promise<number> {
  const { rows } = await tx.query<{ failures: number }>({
    name: 'record_webhook_success',
    text: `update webhooks w
      set failures = 0, rests_until = null, last_success_at = now()
      from (select failures from webhooks where organization_id = $1 for update) before
      where w.organization_id = $1
      returning before.failures`,
    values: [organization_id],
  })
  return rows[0]?.failures ?? 0
}

/** Records a failed attempt. Returns how many in a row have failed; 0: there is no webhook. */
export async function recordFailure(tx: Db, organization_id: number): Promise<number> {
  const { rows } = await tx.query<{ failures: number }>({
    name: 'record_webhook_failure',
    text: `update webhooks
      set failures = failures + 1
      where organization_id = $1
      returning failures`,
    values: [organization_id],
  })
  return rows[0]?.failures ?? 0
}

/** Suspends deliveries to the organization's webhook for this number of seconds. */
export async function restWebhook(tx: Db, organization_id: number, seconds: number): Promise<void> {
  await tx.query({
    name: 'rest_webhook',
    text: `update webhooks
      set rests_until = now() + make_interval(secs => $2)
      where organization_id = $1`,
    values: [organization_id, seconds],
  })
}

/**
 * Disables the organization's webhook. Returns its address; undefined: it is disabled already, there is none,
 * or an attempt succeeded since `unless_success_since`.
 */
export async function disableWebhook(
  tx: Db,
  organization_id: number,
  reason: string,
  unless_success_since: Date | null,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ url: string }>({
    name: 'disable_webhook',
    text: `update webhooks
      set enabled = false, disabled_at = now(), disabled_reason = $2
      where organization_id = $1
        and enabled
        and ($3::timestamptz is null or last_success_at is null or last_success_at < $3)
      returning url`,
    values: [organization_id, reason, unless_success_since],
  })
  return rows[0]?.url
}

/** Ends deliveries that waited too long for a disabled webhook. Returns how many. */
export async function expireHeld(db: Db, reason: string, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'expire_held_deliveries',
    text: `update webhook_deliveries d
      set state = 'failed', error = $1, finished_at = now(), next_attempt_at = null, lease_until = null
      from (
        select organization_id, id
        from webhook_deliveries h
        where state = 'pending'
          and url is null
          and give_up_at < now()
          and (lease_until is null or lease_until < now())
          and not exists (select from webhooks w where w.organization_id = h.organization_id and w.enabled)
        limit $2
        for update skip locked
      ) held
      where d.organization_id = held.organization_id and d.id = held.id`,
    values: [reason, limit],
  })
  return rowCount ?? 0
}

/** Deletes what was settled more than this number of days ago, with its attempts. Returns how many. */
export async function deleteOldDeliveries(db: Db, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete_old_deliveries',
    text: `delete from webhook_deliveries
      where (organization_id, id) in (
        select organization_id, id
        from webhook_deliveries
        where finished_at < now() - make_interval(days => $1)
        order by finished_at
        limit $2
      )`,
    values: [days, limit],
  })
  return rowCount ?? 0
}

/** Returns the pending deliveries of all organizations, for the operator's metrics. */
export function webhookMetrics(db: Db): Promise<{ pending: number; oldest_seconds: number }> {
  return onlyRow<{ pending: number; oldest_seconds: number }>(db, {
    name: 'measure_webhooks',
    text: `select count(*) as pending,
        coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
      from webhook_deliveries
      where state = 'pending'`,
  })
}
