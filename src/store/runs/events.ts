import { webhookEventOf } from '../../core/webhooks/webhook-event.ts'
import { type Db, only } from '../database.ts'
import { insertDeliveries } from '../webhooks/webhook-deliveries.ts'

export type EventType =
  | 'agent_run.created'
  | 'agent_run.status'
  | 'agent_run.updated'
  | 'agent_run.pull_request'
  | 'agent_run.limits_near'
  | 'agent_run.deleted'
/** `run_id` null: the run is deleted, and its id in the body. */
export type EventRow = { seq: number; run_id: number | null; type: EventType; body: string }

/**
 * Writes down, in the transaction of the change itself, that something happened to a run: in the order of the organization, without
 * gaps but for those that deleted runs leave. What of it goes to webhooks is put into their queue with it (specification.md#events), and what a forge shows of
 * the run's status is due.
 */
export async function insertEvent(
  db: Db,
  organization_id: number,
  run_id: number,
  type: Exclude<EventType, 'agent_run.deleted'>,
  body: Record<string, unknown>,
): Promise<number> {
  const { rows } = await db.query<{ seq: number; reported: boolean }>({
    name: 'insert_event',
    text: `with o as (update organizations set event_seq = event_seq + 1 where id = $1 returning id, event_seq),
        m as (update run_marks set change = change + 1 where organization_id = $1 and run_id = $2 and $3 = 'agent_run.status'),
        e as (insert into events (organization_id, seq, run_id, type, body) select o.id, o.event_seq, $2, $3, $4 from o returning seq)
      select e.seq, exists (select from webhooks where organization_id = $1)
        or exists (select from runs where organization_id = $1 and id = $2 and webhooks is not null) as reported from e`,
    values: [organization_id, run_id, type, JSON.stringify(body)],
  })
  const { seq, reported } = only(rows)
  const told_as = webhookEventOf(type, body)
  if (reported && told_as !== null)
    await insertDeliveries(db, organization_id, run_id, { seq, type: told_as, change: JSON.stringify(body) })
  return seq
}

export async function listEventsAfter(db: Db, organization_id: number, after_seq: number, limit: number): Promise<EventRow[]> {
  const { rows } = await db.query<EventRow>({
    name: 'list_events_after',
    text: 'select seq, run_id, type, body from events where organization_id = $1 and seq > $2 order by seq limit $3',
    values: [organization_id, after_seq, limit],
  })
  return rows
}

export async function lastEventSeq(db: Db, organization_id: number): Promise<number> {
  const { rows } = await db.query<{ event_seq: number }>({
    name: 'last_event_seq',
    text: 'select event_seq from organizations where id = $1',
    values: [organization_id],
  })
  return only(rows).event_seq
}
