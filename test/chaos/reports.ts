import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '../runs/recovery/cluster.ts'
import type { ReceivedDelivery } from '../webhooks/receiver.ts'

/** From now on every delivery to the receiver of the organization is recorded there. */
export async function report({ rows }: Cluster, url: string): Promise<void> {
  await rows(
    `insert into webhooks (organization_id, url, enabled, updated_by)
      select id, $1, true, (select min(id) from users)
      from organizations`,
    [url],
  )
}

type SentDelivery = {
  run_id: number
  event_seq: number
  message_id: string
  state: string
  error: string | null
}

/** I9: violations once nothing waits: each transition was delivered, under one id, and each run in order. */
export async function undelivered(
  cluster: Cluster,
  received: ReceivedDelivery[],
  wait_ms: number,
): Promise<string[]> {
  for (const end = Date.now() + wait_ms; Date.now() < end; await delay(200)) {
    const waiting = await cluster.rows(`select 1 from webhook_deliveries where state = 'pending' limit 1`)
    if (waiting.length === 0) break
  }
  const events = await cluster.rows<{ run_id: number; seq: number }>(
    `select run_id, seq
      from events
      where run_id is not null and type in ('agent_run.created', 'agent_run.status', 'agent_run.pull_request')
      order by seq`,
  )
  const sent = await cluster.rows<SentDelivery>(
    'select run_id, event_seq, message_id, state, error from webhook_deliveries',
  )
  const by_seq = new Map(sent.map(one => [one.event_seq, one]))
  const came = new Map<number, Set<string>>()
  const last = new Map<number, number>()
  const wrong: string[] = []
  for (const { headers, message } of received) {
    const { event_seq, agent_run_id } = message.data
    const again = came.get(event_seq)
    came.set(event_seq, (again ?? new Set()).add(headers['webhook-id'] ?? ''))
    if (again === undefined && event_seq < (last.get(agent_run_id) ?? 0))
      wrong.push(`I9: event ${event_seq} of run ${agent_run_id} came late`)
    last.set(agent_run_id, Math.max(event_seq, last.get(agent_run_id) ?? 0))
  }
  for (const { run_id, seq } of events) {
    const one = by_seq.get(seq)
    if (one?.state !== 'delivered')
      wrong.push(`I9: event ${seq} of run ${run_id} is ${one?.state ?? 'not queued'}: ${one?.error ?? ''}`)
    if (came.get(seq)?.size !== 1)
      wrong.push(`I9: event ${seq} of run ${run_id} came under ${came.get(seq)?.size ?? 0} ids`)
  }
  return wrong
}
