import type { Db } from './database.ts'

/**
 * Channels of NOTIFY. A notification is a hint: a process that misses it finds the same by polling the
 * tables.
 */
export const channels = {
  /** A run may be claimed. */
  work: 'agentrun_work',
  /** `{organization_id}:{run_id}`: the run, its entries or its events have grown. */
  run: 'agentrun_run',
  /** `{organization_id}:{run_id}:{json}`: an ephemeral event, for current readers. */
  live: 'agentrun_live',
  /** A delivery waits to be sent to a webhook. */
  webhook: 'agentrun_webhook',
  /** The name of a call that its client has cancelled, in whichever process it waits. */
  cancelled: 'agentrun_cancelled',
} as const

/** Interval at which a process reports which runs are followed there. */
export const WATCH_INTERVAL_MS = 5_000
export const WATCHED = '{"event":"watched"}'
/** A viewer has come, maybe after others: it lacks the output and the text that were sent before. */
export const JOINED = '{"event":"joined"}'
/** Begins the response of the worker to `JOINED`. */
export const SO_FAR_START = '{"event":"so_far",'
/** A worker has claimed a run: processes that follow it report that at once. */
export const CLAIMED = '{"event":"claimed"}'
/** Lets the owner of a run check for control requests at once, instead of with its next heartbeat. */
export const CONTROL = '{"event":"control"}'

/** `payload`: at most 7,500 bytes of JSON after the ids: PostgreSQL refuses payloads of 8,000. */
export type Notification = { channel: string; payload: string }

/** A run may be claimed. */
export const workNotification: Notification = { channel: channels.work, payload: '' }

/** The run, its entries or its events have grown. */
export const runNotification = (organization_id: number, run_id: number): Notification => ({
  channel: channels.run,
  payload: `${organization_id}:${run_id}`,
})

/** An ephemeral event, for current readers. */
export const liveNotification = (organization_id: number, run_id: number, json: string): Notification => ({
  channel: channels.live,
  payload: `${organization_id}:${run_id}:${json}`,
})

/** Sends notifications in their order, with one statement. */
export async function notifyAll(db: Db, notifications: Notification[]): Promise<void> {
  await db.query({
    name: 'notify_all',
    text: `select pg_notify(channel, payload)
      from unnest($1::text[], $2::text[]) with ordinality n (channel, payload, i)
      order by i`,
    values: [notifications.map(({ channel }) => channel), notifications.map(({ payload }) => payload)],
  })
}

export async function notifyWork(db: Db): Promise<void> {
  await notifyAll(db, [workNotification])
}

export async function notifyWebhook(db: Db): Promise<void> {
  await db.query({ name: 'notify_webhook', text: `select pg_notify('${channels.webhook}', '')`, values: [] })
}

/** @param call at most 7,500 bytes. */
export async function notifyCancelled(db: Db, call: string): Promise<void> {
  await notifyAll(db, [{ channel: channels.cancelled, payload: call }])
}

export async function notifyRun(db: Db, organization_id: number, run_id: number): Promise<void> {
  await notifyAll(db, [runNotification(organization_id, run_id)])
}

/** Lets the owners of these runs publish ephemeral events for some seconds, because the runs are followed. */
export async function notifyWatched(
  db: Db,
  runs: { organization_id: number; run_id: number }[],
): Promise<void> {
  await notifyAll(
    db,
    runs.map(run => liveNotification(run.organization_id, run.run_id, WATCHED)),
  )
}

/** Lets the owner of a run send what it has shown so far, for viewers that have just come. */
export async function notifyJoined(db: Db, organization_id: number, run_id: number): Promise<void> {
  await notifyAll(db, [liveNotification(organization_id, run_id, JOINED)])
}
