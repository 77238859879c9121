import type { RunStatus } from '../../../src/contract/runs/runs.ts'
import { type App, rows } from '../../start-app.ts'

const leased = `lease_until = now() + interval '8 minutes', owner = 'a test', epoch = epoch + 1, runnable_at = null`
const ended = 'lease_until = null, owner = null, runnable_at = null, finished_at = now(), deadline_at = null'
const states: Record<RunStatus, string> = {
  queued: 'runnable_at = now(), lease_until = null, owner = null',
  starting: `phase = 'clone', ${leased}`,
  running: `phase = 'agent', ${leased}`,
  waiting: `waiting_on = 'user_input', lease_until = null, owner = null, runnable_at = null`,
  paused: `status_reason = 'budget', lease_until = null, owner = null, runnable_at = null, deadline_at = null`,
  cancelling: leased,
  completed: `result = 'done', ${ended}`,
  failed: `status_reason = 'agent_error', error_code = 'agent_error', error_message = 'it broke', ${ended}`,
  cancelled: ended,
}

/** Puts a run into a status as a worker would, for tests without a worker. */
export async function putRun(app: App, id: number, status: RunStatus): Promise<void> {
  const reset = 'status_reason = null, phase = null, waiting_on = null, finished_at = null'
  const given = states[status]
  const rest = reset.split(', ').filter(item => !given.includes(item.split(' ')[0] ?? ''))
  await rows(app, `update runs set status = $2, ${[...rest, given].join(', ')} where id = $1`, [id, status])
}

export const statuses = Object.keys(states) as RunStatus[]
