import type { Db } from './database.ts'

/** Channels of NOTIFY. A notification is a hint: a process that misses it finds the same by polling the tables. */
export const channels = {
  /** A run may be claimed. */
  work: 'agentrun_work',
  /** `{organization_id}:{run_id}`: the run, its entries or its events have grown. */
  run: 'agentrun_run',
  /** `{organization_id}:{run_id}:{json}`: an ephemeral event, for current readers. */
  live: 'agentrun_live',
  /** A delivery waits to be sent to a webhook. */
  webhook: 'agentrun_webhook',
} as const

/** Interval at which a process reports which runs are followed there. */
export const WATCH_INTERVAL_MS = 5_000
export const WATCHED = '{"event":"watched"}'

export async function notifyWork(db: Db): Promise<void> {
  await db.query({ name: 'notify_work', text: `select pg_notify('${channels.work}', '')`, values: [] })
}

export async function notifyWebhook(db: Db): Promise<void> {
  await db.query({ name: 'notify_webhook', text: `select pg_notify('${channels.webhook}', '')`, values: [] })
}

export async function notifyRun(db: Db, organization_id: number, run_id: number): Promise<void> {
  await db.query({ name: 'notify_run', text: `select pg_notify('${channels.run}', $1)`, values: [`${organization_id}:${run_id}`] })
}

/** Lets the owner of a run check for control requests at once, instead of with its next heartbeat. */
export async function notifyOwner(db: Db, organization_id: number, run_id: number): Promise<void> {
  await notifyLive(db, organization_id, run_id, '{"event":"control"}')
}

/** Lets the owners of these runs publish ephemeral events for some seconds, because the runs are followed. */
export async function notifyWatched(db: Db, runs: { organization_id: number; run_id: number }[]): Promise<void> {
  await db.query({
    name: 'notify_watched',
    text: `select pg_notify('${channels.live}', run) from unnest($1::text[]) run`,
    values: [runs.map(run => `${run.organization_id}:${run.run_id}:${WATCHED}`)],
  })
}

/**
 * Sends an ephemeral event to the readers of a run; nothing is stored.
 * @param json at most 7,500 bytes: PostgreSQL refuses payloads of 8,000.
 */
export async function notifyLive(db: Db, organization_id: number, run_id: number, json: string): Promise<void> {
  await db.query({
    name: 'notify_live',
    text: `select pg_notify('${channels.live}', $1)`,
    values: [`${organization_id}:${run_id}:${json}`],
  })
}
