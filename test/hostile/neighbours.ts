import { expect } from 'vitest'
import { addCaller } from '../api/access/add-caller.ts'
import type { FakeScript } from '../model/fake-server.ts'
import { calls, shell } from '../runs/coding-app.ts'
import type { WatchedService } from './watched-service.ts'

const patience = { timeout: 120_000, interval: 500 }

const STEPS = 3
/** Each run of the neighbour takes its steps in order. */
export const script: FakeScript = ({ body }) => {
  const done = (body.messages as { role: string }[]).filter(({ role }) => role === 'tool').length
  return done < STEPS ? calls(shell(`echo step ${done + 1}`)) : { text: 'Done.' }
}

type Call = { token: string; method?: string; path: string; body?: unknown }
export async function call({ base_url }: WatchedService, { token, method = 'POST', path, body }: Call) {
  // An idle connection of this client would be a descriptor that the service has not released.
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    connection: 'close',
  }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(`${base_url}/v1/organizations/${path}`, init)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

type ActiveRun = { id: number; organization_id: number }
/** Read from the database, because the limits of clients count each request. */
async function activeRuns({ db }: WatchedService): Promise<ActiveRun[]> {
  const text = `select id, organization_id
    from runs
    where status not in ('completed', 'failed', 'cancelled')`
  return (await db.query<ActiveRun>({ text, values: [] })).rows
}

/**
 * Resolves when a new run of organization 1 has ended: its status, and its result or what failed. Each has a
 * token of its own.
 */
export async function neighbour(service: WatchedService, body: Record<string, unknown>): Promise<unknown[]> {
  const token = await addCaller(service, [1], 'ADMIN')
  const { id } = await call(service, { token, path: '1/agent/run', body })
  const isActive = async () => (await activeRuns(service)).some(run => run.id === id)
  await expect.poll(isActive, patience).toBe(false)
  const { status, result, error } = await call(service, { token, method: 'GET', path: `1/agent/run/${id}` })
  return [status, error?.code ?? result]
}

/** Stops what the attackers have started, and waits until no run is active. */
export async function stopRuns(service: WatchedService): Promise<void> {
  for (const { id, organization_id } of await activeRuns(service)) {
    const token = await addCaller(service, [organization_id], 'ADMIN')
    await call(service, { token, path: `${organization_id}/agent/run/stop`, body: { agent_run_id: id } })
  }
  await expect.poll(async () => (await activeRuns(service)).length, patience).toBe(0)
}

/**
 * Completed runs of the neighbour, and those among them of which a row is absent, written twice or not
 * finished.
 */
export async function storedRuns({ db }: WatchedService): Promise<{ runs: number; damaged: number[] }> {
  const text = `select r.id, r.journal_count = (select count(*) from journal j where j.run_id = r.id)
      and r.journal_count = (select coalesce(max(n), 0) from journal j where j.run_id = r.id)
      and r.total_logs = (select count(*) from log_entries e where e.run_id = r.id)
      and r.total_logs = (select coalesce(max(seq), 0) from log_entries e where e.run_id = r.id)
      and (select count(*) from journal j where j.run_id = r.id and kind = 'model_answered') = $1 + 1
      and (select count(*) from journal j where j.run_id = r.id and kind = 'tool_started') = $1
      and (select count(*) from journal j where j.run_id = r.id and kind = 'tool_finished') = $1 as is_whole
    from runs r
    where organization_id = 1 and status = 'completed'
    order by r.id`
  const { rows } = await db.query<{ id: number; is_whole: boolean }>({ text, values: [STEPS] })
  return { runs: rows.length, damaged: rows.flatMap(({ id, is_whole }) => (is_whole ? [] : [id])) }
}
