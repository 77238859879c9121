import { webhookEventOf } from '../../core/webhooks/webhook-event.ts'
import { allRows, type Db, only } from '../database.ts'
import { insertDeliveries } from '../webhooks/webhook-deliveries.ts'

/** Of a change of a run (`changeRun`). */
export type EventType =
  | 'agent_run.created'
  | 'agent_run.status'
  | 'agent_run.updated'
  | 'agent_run.pull_request'
  | 'agent_run.limits_near'
/** `run_id` null: the run is deleted, and its id is in the body. */
type EventRow = { seq: number; run_id: number | null; type: EventType | 'agent_run.deleted'; body: string }

/**
 * Records an event of a run in the transaction of the change itself: in the order of the organization,
 * without gaps except those of deleted runs. Queues webhooks for it in the same transaction
 * (specification.md#events), and marks the run's status on a forge as due.
 */
export async function insertEvent(
  db: Db,
  organization_id: number,
  run_id: number,
  type: EventType,
  body: Record<string, unknown>,
): Promise<number> {
  const { rows } = await db.query<{ seq: number; reported: boolean }>({
    name: 'insert_event',
    text: `with o as (
        update organizations
        set event_seq = event_seq + 1
        where id = $1
        returning id, event_seq
      ),
      m as (
        update run_marks
        set change = change + 1
        where organization_id = $1 and run_id = $2 and $3 = 'agent_run.status'
      ),
      e as (
        insert into events (organization_id, seq, run_id, type, body)
        select o.id, o.event_seq, $2, $3, $4
        from o
        returning seq
      )
      select e.seq, exists (select from webhooks where organization_id = $1)
        or exists (
          select
          from runs
          where organization_id = $1 and id = $2 and webhooks is not null
        ) as reported
      from e`,
    values: [organization_id, run_id, type, JSON.stringify(body)],
  })
  const { seq, reported } = only(rows)
  const webhook_event = webhookEventOf(type, body)
  if (reported && webhook_event !== null)
    await insertDeliveries(db, organization_id, run_id, {
      seq,
      type: webhook_event,
      change: JSON.stringify(body),
    })
  return seq
}

/** Returns up to `limit` events of an organization, ascending by `seq`. */
export function listEventsAfter(
  db: Db,
  organization_id: number,
  after_seq: number,
  limit: number,
): Promise<EventRow[]> {
  return allRows<EventRow>(db, {
    name: 'list_events_after',
    text: `select seq, run_id, type, body
      from events
      where organization_id = $1 and seq > $2
      order by seq
      limit $3`,
    values: [organization_id, after_seq, limit],
  })
}

/** Returns the `seq` of the newest event of an organization; 0 before the first one. */
export async function lastEventSeq(db: Db, organization_id: number): Promise<number> {
  const { rows } = await db.query<{ event_seq: number }>({
    name: 'last_event_seq',
    text: 'select event_seq from organizations where id = $1',
    values: [organization_id],
  })
  return only(rows).event_seq
}
