import type { MessageType } from '../../../src/contract/runs/logs.ts'
import type { RunStatus } from '../../../src/contract/runs/runs.ts'

/**
 * A run according to specification.md#run-status, #create-and-resume, independent of the implementation: the
 * table of statuses is repeated here, so that a mistake in src/core/runs/run-transitions.ts is not believed.
 */
export type ModelRun = {
  status: RunStatus
  turn: number
  title: string
  tags: string[]
  archived: boolean
  banned: boolean
  pull_requests: number
  /** A pause was requested, and no resume since. */
  held: boolean
  /** Why it is paused. */
  reason: 'budget' | 'user_request'
  /** Its question was answered, and no worker has taken it since. */
  answered: boolean
  /** Resumed since the request to stop. */
  follow_up: boolean
  entries: { message_type: MessageType; turn: number; mode?: string; text?: string }[]
}
export type Mode = 'steer' | 'enqueue' | 'interrupt'

/** Where a worker, or the sweep for dead workers, may take a run (specification.md#run-status). */
export const workerMoves: Record<RunStatus, RunStatus[]> = {
  queued: ['starting', 'failed'],
  starting: ['running', 'queued', 'paused', 'failed'],
  running: ['queued', 'waiting', 'paused', 'failed', 'completed'],
  waiting: ['running', 'paused', 'failed'],
  paused: [],
  cancelling: ['cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
}

export const hasEnded = (run: Pick<ModelRun, 'status'>) =>
  ['completed', 'failed', 'cancelled'].includes(run.status)

export const created = (title: string, text: string): ModelRun => ({
  status: 'queued',
  turn: 1,
  title,
  tags: [],
  archived: false,
  banned: false,
  pull_requests: 0,
  held: false,
  reason: 'budget',
  answered: false,
  follow_up: false,
  entries: [{ message_type: 'USER_MESSAGE', turn: 1, mode: 'prompt', text }],
})

/** Its worker must release it first; a run without a worker is cancelled immediately. */
export function stopped(run: ModelRun): ModelRun {
  if (run.status === 'starting' || run.status === 'running') return { ...run, status: 'cancelling' }
  if (run.status === 'queued' || run.status === 'waiting' || run.status === 'paused')
    return { ...run, status: 'cancelled' }
  return { ...run, follow_up: false }
}

/** Null: 409. */
export function paused(run: ModelRun): ModelRun | null {
  if (run.status === 'cancelling' || hasEnded(run)) return null
  if (run.status === 'starting' || run.status === 'running') return { ...run, held: true }
  return run.status === 'paused'
    ? run
    : { ...run, status: 'paused', held: true, reason: 'user_request', answered: false }
}

/** Null: 409. */
export function resumed(run: ModelRun, text: string, mode: Mode | undefined): ModelRun | null {
  if (run.banned) return null
  const shown = { ...run, archived: false }
  const withMessage = (mode: string, turn: number) => [
    ...run.entries,
    { message_type: 'USER_MESSAGE' as const, turn, mode, text },
  ]
  if (hasEnded(run))
    return {
      ...shown,
      held: false,
      status: 'queued',
      turn: run.turn + 1,
      entries: withMessage('prompt', run.turn + 1),
    }
  if (run.status === 'cancelling')
    return { ...shown, follow_up: true, entries: withMessage('enqueue', run.turn) }
  if (run.status === 'paused')
    return { ...shown, held: false, status: 'queued', entries: withMessage('steer', run.turn) }
  if (run.status === 'waiting') return { ...shown, answered: true, entries: withMessage('answer', run.turn) }
  return { ...shown, held: false, entries: withMessage(mode ?? 'steer', run.turn) }
}

export function moved(run: ModelRun, to: RunStatus): ModelRun {
  const final = { message_type: 'FINAL_ANSWER' as const, turn: run.turn }
  if (to === 'cancelled' && run.follow_up)
    return { ...run, status: 'queued', turn: run.turn + 1, held: false, follow_up: false, answered: false }
  return {
    ...run,
    status: to,
    answered: false,
    reason: 'budget',
    entries: to === 'completed' ? [...run.entries, final] : run.entries,
  }
}

/** No journal is written here: an active run is between two steps. */
function waitsFor({ status, held, answered }: ModelRun): string | null {
  if (hasEnded({ status }) || status === 'paused') return null
  if (status === 'waiting') return answered ? 'slot' : 'user_input'
  return status === 'queued' ? 'slot' : status === 'starting' && !held ? 'clone' : 'worker'
}

/** The expected run object. */
export function shown(run: ModelRun): Record<string, unknown> {
  const { status, turn, title, tags, archived, banned, entries, reason } = run
  return {
    status,
    turn,
    title,
    tags,
    archived,
    banned,
    terminal: hasEnded(run),
    result: status === 'completed' ? 'done' : '',
    total_logs: entries.length,
    phase: status === 'starting' ? 'clone' : status === 'running' ? 'agent' : null,
    waiting_on: waitsFor(run),
    status_reason: status === 'failed' ? 'agent_error' : status === 'paused' ? reason : null,
  }
}
