import { expect } from 'vitest'
import { type App, rows } from '../start-app.ts'

/**
 * Polls a repository on its forge now, and returns when that is over: a poll ends by recording its position,
 * unless another process has done so since it began.
 */
export async function pollNow(app: App, repo_id: number): Promise<void> {
  const [before] = await rows<{ until: Date }>(
    app,
    `update repositories
      set forge_seen_at = '-infinity',
        forge_seen_until = date_trunc(
          'milliseconds', coalesce(forge_seen_until, now() - interval '1 day')
        ) - interval '1 millisecond'
      where id = $1
      returning forge_seen_until as until`,
    [repo_id],
  )
  const until = async () =>
    (
      await rows<{ until: Date }>(app, 'select forge_seen_until as until from repositories where id = $1', [
        repo_id,
      ])
    )[0]?.until
  await expect
    .poll(async () => (await until())?.getTime(), { timeout: 30_000 })
    .not.toBe(before?.until.getTime())
}

export type DoneRequest = { once: string; outcome: string | null; run_id: number | null }

/**
 * Every request about an issue or pull request of acme/app, when nothing is left to do but to wait for its
 * run.
 */
export async function requestsOn(app: App, number: number): Promise<DoneRequest[]> {
  const subject = `acme/app#${number}`
  const open = () =>
    rows(
      app,
      `select 1
        from forge_deliveries
        where task is not null and run_id is null and (subject = $1 or task::json ->> 'number' = $2)`,
      [...[subject, String(number)]],
    )
  await expect.poll(open, { timeout: 20_000 }).toEqual([])
  return rows<DoneRequest>(
    app,
    `select once, outcome, run_id
      from forge_deliveries
      where subject = $1
      order by received_at`,
    [subject],
  )
}
