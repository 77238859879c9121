import type { WebhookEvent } from '../../contract/organizations/webhook-events.ts'
import { message_limits } from '../../contract/webhooks/webhook-messages.ts'
import { GIVE_UP_SECONDS } from '../../core/webhooks/webhook-retries.ts'
import { allRows, type Db } from '../database.ts'
import { channels } from '../notify.ts'
import { claimedFor, isDue } from '../queue/queue-table.ts'

/**
 * The queue limit of an organization's webhook, and of those of its runs. What exceeds it is in the ledger as
 * failed and can be redelivered.
 */
export const MAX_PENDING = 10_000

const iso = (time: string) => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** The message as JSON text: the run `r` as it is at this moment, in the names of the run object. */
const message = `json_build_object('agent_run_id', r.id, 'organization_id', r.organization_id, 'event_seq', $3::bigint, 'seq', r.total_logs,
  'status', r.status, 'status_reason', r.status_reason, 'terminal', r.status in ('completed', 'failed', 'cancelled'), 'phase', r.phase,
  'waiting_on', r.waiting_on, 'turn', r.turn, 'title', left(r.title, ${message_limits.title_chars}),
  'result', left(r.result, ${message_limits.result_chars}), 'result_truncated', length(r.result) > ${message_limits.result_chars},
  'error', case when r.error_code is not null
    then json_build_object('code', r.error_code, 'message', left(coalesce(r.error_message, ''), ${message_limits.error_chars})) end,
  'source_type', r.source_type, 'agent_type', r.agent_type, 'model', r.model, 'tags', array_to_json(r.tags), 'metadata', r.metadata::json,
  'repo_id', r.repository_id, 'base_ref', r.base_ref, 'branch', case when r.pushed_sha is not null then r.branch end,
  'user_id', r.user_id, 'parent_run_id', r.parent_run_id,
  'created_at', ${iso('r.created_at')}, 'started_at', ${iso('r.started_at')}, 'finished_at', ${iso('r.finished_at')},
  'usage', json_build_object('input_tokens', r.input_tokens, 'output_tokens', r.output_tokens, 'cached_tokens', r.cached_tokens,
    'cached_share', case when r.input_tokens > 0 then round(least(r.cached_tokens::numeric / r.input_tokens, 1), 3)::float8 end,
    'cost_usd', case when r.cost_known then trim_scale(r.cost_usd)::text end, 'active_seconds', r.active_ms / 1000.0,
    'estimated_calls', r.estimated_calls),
  'github_pull_requests', (select coalesce(json_agg(json_build_object('id', p.id, 'title', left(p.title, ${message_limits.title_chars}), 'url', coalesce(p.remote_url, p.url),
      'created_at', ${iso('p.created_at')}, 'updated_at', ${iso('p.updated_at')}, 'head_branch_name', p.head_branch, 'number', coalesce(p.remote_number, p.number), 'state', p.state,
      'base_branch_name', p.base_branch, 'head_sha', p.head_sha, 'files_changed', p.files_changed, 'additions', p.additions,
      'deletions', p.deletions) order by p.id), '[]')
    from (select * from pull_requests where organization_id = r.organization_id and run_id = r.id order by id limit ${message_limits.pull_requests}) p),
  'change', $5::json)`

const full_up = `full_up as (select own, (select count(*) from (select from webhook_deliveries
          where organization_id = $1 and state = 'pending' and (url is null) = own limit ${MAX_PENDING}) waiting) >= ${MAX_PENDING} as yes
        from (values (true), (false)) as kind (own))`
/** Columns of a new delivery. `first`: condition under which it is due and not behind another one. */
const as_queued = (
  first: string,
) => `case when full_up.yes then 'failed' else 'pending' end, case when full_up.yes then 'the queue is full' end,
          case when full_up.yes then now() end, case when not full_up.yes and ${first} then now() end,
          now() + make_interval(secs => ${GIVE_UP_SECONDS})`

/**
 * Queues events of runs that are deleted in the same statement (`numbered`, with the `seq` of the event).
 * Their other deliveries are deleted too.
 */
export const queue_deletions = `${full_up}, recipients as (
        select numbered.id, null::text as url from numbered, webhooks w where numbered.webhooks is null and w.organization_id = $1 and w.enabled
          and (w.events is null or 'agent_run.deleted' = any(w.events))
        union
        select numbered.id, target ->> 'url' from numbered, json_array_elements(numbered.webhooks::json) target
          where target -> 'events' is null or exists (select from json_array_elements_text(target -> 'events') e where e = 'agent_run.deleted')
      ), queued as (
        insert into webhook_deliveries (organization_id, deleted_run_id, deleted_run_repository_id, deleted_run_webhooks, url, event_seq, type, body,
          state, error, finished_at, next_attempt_at, give_up_at)
        select $1, numbered.id, numbered.repository_id, case when recipients.url is not null then numbered.webhooks end, recipients.url, numbered.seq, 'agent_run.deleted',
          json_build_object('agent_run_id', numbered.id, 'organization_id', $1::bigint, 'event_seq', numbered.seq, 'repo_id', numbered.repository_id,
            'change', json_build_object('user_id', $3::bigint))::text, ${as_queued('true')}
        from numbered join recipients using (id) join full_up on full_up.own = (recipients.url is null) returning 1)`
export const wake_deliverers = `select pg_notify('${channels.webhook}', '') from queued limit 1`

/**
 * Queues an event for every webhook that subscribes to it, in the transaction of the event: those of the run,
 * or else the organization's. It waits for an earlier one of the same run and address. The caller's
 * transaction holds the organization's row, so no predecessor is settled meanwhile. `change`: JSON text.
 */
export async function insertDeliveries(
  db: Db,
  organization_id: number,
  run_id: number,
  event: { seq: number; type: WebhookEvent; change: string },
): Promise<void> {
  await db.query({
    name: 'insert_webhook_deliveries',
    text: `with r as (select * from runs where organization_id = $1 and id = $2),
      recipients as (
        select null::text as url from r, webhooks w
          where r.webhooks is null and w.organization_id = $1 and w.enabled and (w.events is null or $4 = any(w.events))
        union
        select target ->> 'url' from r, json_array_elements(r.webhooks::json) target
          where target -> 'events' is null or exists (select from json_array_elements_text(target -> 'events') e where e = $4)
      ),
      ${full_up},
      added as (
        insert into webhook_deliveries as d (organization_id, run_id, url, event_seq, type, body, state, error, finished_at, next_attempt_at, give_up_at)
        select $1, $2, recipients.url, $3, $4, ${message}::text,
          ${as_queued(`not exists (select from webhook_deliveries b where b.organization_id = $1 and b.run_id = $2
            and b.url is not distinct from recipients.url and b.state = 'pending')`)}
        from r, recipients join full_up on full_up.own = (recipients.url is null) returning d.id)
      select pg_notify('${channels.webhook}', '') from added limit 1`,
    values: [organization_id, run_id, event.seq, event.type, event.change],
  })
}

/** A delivery that this process attempts. `n`: the number of the attempt. */
export type ClaimedDelivery = {
  organization_id: number
  id: number
  run_id: number
  repository_id: number | null
  url: string | null
  message_id: string
  type: string
  body: string
  created_at: Date
  epoch: number
  n: number
  tries: number
  /** The targets of the run; JSON text. Null: the organization's webhook. */
  run_targets: string | null
}

/**
 * Concurrent attempts at an organization's webhook in all processes, and as many at those of its runs: a slow
 * receiver delays no other organization.
 */
const CONCURRENCY = 4
/** Longer than an attempt may take: a process that has not settled it by then is dead. */
const ATTEMPT_LEASE_SECONDS = 30

/**
 * Claims what is due, a few of each organization, and records the attempts. Nothing is claimed for a webhook
 * that rests, and one delivery at a time for a webhook that has failed `failures_to_rest` times in a row.
 */
export function claimDeliveries(db: Db, limit: number, failures_to_rest: number): Promise<ClaimedDelivery[]> {
  const next = (whose: string, after: string) =>
    `(select d.organization_id from webhook_deliveries d where d.state = 'pending' and ${whose} and d.organization_id > ${after}
      order by d.organization_id limit 1)`
  // The organizations that have any: one step in the index for each.
  const organizations = (name: string, whose: string) =>
    `${name} as (select ${next(whose, '0')} as id union all select ${next(whose, `${name}.id`)} from ${name} where ${name}.id is not null)`
  const busy = (whose: string) =>
    `(select count(*) from webhook_deliveries d where d.organization_id = o.id and ${whose} and d.lease_until is not null and d.lease_until > now())`
  const due = (whose: string, at_most: string) =>
    `(select d.organization_id, d.id, d.next_attempt_at from webhook_deliveries d
      where d.organization_id = o.id and d.state = 'pending' and ${whose} and ${isDue('d')} order by d.next_attempt_at limit greatest(0, ${at_most}))`
  return allRows<ClaimedDelivery>(db, {
    name: 'claim_webhook_deliveries',
    text: `with recursive ${organizations('own', 'd.url is null')}, ${organizations('others', 'd.url is not null')}, due as (
        select one.*
        from own o
        join webhooks w on w.organization_id = o.id
          and w.enabled
          and (w.rests_until is null or w.rests_until <= now())
        cross join lateral ${due('d.url is null', `case when w.failures >= $2 then 1 else ${CONCURRENCY} end - ${busy('d.url is null')}`)} one
        union all select one.*
        from others o
        cross join lateral ${due('d.url is not null', `${CONCURRENCY} - ${busy('d.url is not null')}`)} one
        order by next_attempt_at
        limit $1
      ),
      taken as (
        select d.organization_id, d.id
        from due
        cross join lateral (
          select organization_id, id
          from webhook_deliveries one
          where one.organization_id = due.organization_id
            and one.id = due.id
            and one.state = 'pending'
            and ${isDue('one')}
          for update skip locked
        ) d
      ),
      claimed as (
        update webhook_deliveries d
        set attempts = attempts + 1, ${claimedFor(ATTEMPT_LEASE_SECONDS)}
        from taken
        where d.organization_id = taken.organization_id and d.id = taken.id
        returning d.organization_id, d.id, coalesce(d.run_id, d.deleted_run_id) as run_id,
          d.deleted_run_repository_id, d.deleted_run_webhooks, d.url, d.message_id, d.type, d.body,
          d.created_at, d.epoch, d.attempts as n, d.tries
      ),
      begun as (
        insert into webhook_attempts (organization_id, delivery_id, n)
        select organization_id, id, n
        from claimed
      )
      select c.*, coalesce(r.repository_id, c.deleted_run_repository_id) as repository_id,
        coalesce(r.webhooks, c.deleted_run_webhooks) as run_targets
      from claimed c
      left join runs r on r.organization_id = c.organization_id and r.id = c.run_id
      order by c.created_at, c.id`,
    values: [limit, failures_to_rest],
  })
}
