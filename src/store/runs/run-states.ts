import type { RunStatus } from '../../contract/runs/runs.ts'
import { MAX_STALLS } from '../../core/runs/after-lost-worker.ts'
import { CALL } from '../../core/runs/approved-call.ts'
import { END_SECONDS } from '../../core/runs/lease.ts'
import { MAX_SILENCE_SECONDS, RECORDED_OWNER } from '../../core/runs/recorded-run.ts'
import type { Move } from '../../core/runs/run-transitions.ts'
import type { Bind, Sql } from '../statement.ts'

/** Columns of a run with the SQL of their values. A column that is absent keeps its value. */
type Columns = Record<string, string>

/** Returns SQL: the assignments of an `update`. */
export const setOf = (columns: Columns): string =>
  Object.entries(columns)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ')
/** Returns the columns for an `insert`. */
export function rowOf<K extends string>(columns: Record<K, string>): Record<K, Sql> {
  const row = {} as Record<K, Sql>
  for (const name in columns) row[name] = () => columns[name]
  return row
}

/** SQL: the run was in hand when the event loop of its owner stalled, and that has not ended. */
export const is_stalled = 'stalled_epoch is not distinct from epoch'

/**
 * How long a worker has to release a run that must stop, before the sweep takes it over: with the sweep 10 s
 * in all (specification.md#run-status).
 */
const FENCE_SECONDS = 5

const after = (seconds: string) => `now() + make_interval(secs => ${seconds})`
const updated = { updated_at: 'now()', last_progress_at: 'now()' }
const without_reason = {
  status_reason: 'null',
  waiting_on: 'null',
  error_code: 'null',
  error_message: 'null',
}
const not_recovering = { recovering_since: 'null', recovery_cause: 'null' }
const without_worker = { phase: 'null', owner: 'null', lease_until: 'null' }
/** No worker has it, none may claim it, and no call of a model is in flight. */
const at_rest = {
  ...without_reason,
  ...not_recovering,
  ...without_worker,
  runnable_at: 'null',
  reserved_usd: '0',
  ...updated,
}
const ended = {
  ...at_rest,
  deadline_at: 'null',
  finished_at: 'now()',
  // The approval of a call is for this turn; that of a commit is for the next one too.
  approved_sha: `case when approved_sha like '${CALL}%' then null else approved_sha end`,
}
type Reason = { because?: string | null; error?: { code: string; message: string } }
const reasonOf = ({ because, error }: Reason, bind: Bind) => ({
  status_reason: bind(because ?? null),
  error_code: bind(error?.code ?? null),
  error_message: bind(error?.message ?? null),
})

/** Its owner continues, in that phase. */
const ownersPhase = ({ phase }: { phase: string }, bind: Bind) => ({
  ...without_reason,
  ...not_recovering,
  phase: bind(phase),
  runnable_at: 'null',
  ...updated,
})

/** A new turn of an ended run, or the rest of a paused one, as if nothing had happened to the turn before. */
const begun = (new_turn: boolean): Columns => {
  const turn = new_turn ? 'turn + 1' : 'turn'
  const unread = `select count(*)
    from messages m
    where m.run_id = runs.id and m.delivered_at is null and m.turn <= runs.${turn}`
  return {
    ...at_rest,
    runnable_at: 'now()',
    turn,
    result: `''`,
    finished_at: 'null',
    pending_messages: `(${unread})`,
    stop_requested_at: 'null',
    stop_requested_by: 'null',
    interrupt_requested: 'false',
    pause_requested_at: 'null',
    pause_requested_by: 'null',
    resume_requested_at: 'null',
    losses: '0',
    // A run that stalled its process keeps a worker of its own until it completes a turn.
    stalls: `case when status = 'completed' then 0 else least(stalls, ${MAX_STALLS}) end`,
    turn_started_at: 'now()',
    ...(new_turn && { turn_active_ms: '0' }),
  }
}

/** The next worker recovers the turn from the journal. The epoch fences the last one at once. */
const recovering = (cause: 'lease_lost' | 'handed_over'): Columns => ({
  ...without_worker,
  epoch: 'epoch + 1',
  runnable_at: 'now()',
  recovering_since: 'now()',
  recovery_cause: `'${cause}'`,
  updated_at: 'now()',
})
const queued = {
  new_turn: begun(true),
  continued: begun(false),
  worker_lost: {
    ...recovering('lease_lost'),
    recovering_since: 'least(lease_until, now())',
    losses: 'losses + 1',
    stalls: `stalls + (${is_stalled})::int`,
  },
  sandbox_lost: { ...recovering('lease_lost'), losses: 'losses + 1' },
  handed_over: recovering('handed_over'),
}

const silence = `now() + interval '${MAX_SILENCE_SECONDS} seconds'`
/** A recorded session that reports: no worker owns it, and its silence ends it. */
export const recording = {
  status: `'running'`,
  status_reason: 'null',
  phase: `'agent'`,
  waiting_on: 'null',
  owner: `'${RECORDED_OWNER}'`,
  runnable_at: 'null',
  lease_until: silence,
  deadline_at: silence,
}
const recorded_turn = {
  ...without_reason,
  ...recording,
  turn: 'turn + 1',
  result: `''`,
  finished_at: 'null',
  archived: 'false',
  turn_started_at: 'now()',
  ...updated,
}

/** A run that waits may be claimed from now on, until the new deadline. */
export const woken = (seconds: string): Columns => ({
  runnable_at: 'coalesce(runnable_at, now())',
  deadline_at: after(seconds),
  updated_at: 'now()',
})

/** A new run waits for a worker, until its deadline. */
export const created = (seconds: number): { status: string; deadline_at: Sql } => ({
  status: 'queued',
  deadline_at: bind => after(bind(seconds)),
})

/**
 * What a claim sets: a run that waited continues, every other one starts; one that recovers keeps its
 * deadline.
 */
export const claimed = (sql: { owner: string; lease_seconds: string; turn_seconds: string }): Columns => ({
  status: `case status when 'waiting' then 'running' else 'starting' end`,
  phase: `case
    when status = 'waiting' then 'agent'
    when journal_count = 0 then 'clone'
    when exists (select 1 from journal j where j.run_id = runs.id and j.turn = runs.turn) then 'recover'
    else 'checkout' end`,
  waiting_on: 'null',
  owner: sql.owner,
  epoch: 'epoch + 1',
  runnable_at: 'null',
  lease_until: `case
    when recovering_since is null then ${after(sql.lease_seconds)}
    else least(${after(sql.lease_seconds)}, deadline_at + interval '${END_SECONDS} seconds') end`,
  deadline_at: `case when recovering_since is null then ${after(sql.turn_seconds)} else deadline_at end`,
  started_at: 'coalesce(started_at, now())',
  ...updated,
})

type Table = { [S in RunStatus]: (move: Extract<Move, { to: S }>, bind: Bind) => Columns }

/**
 * What a change to each status sets and clears. Only this table knows it, with `claimed`, `created` and
 * `recording` above.
 */
const columns: Table = {
  queued: (move, bind) => ({
    ...queued[move.because],
    ...('deadline_seconds' in move && { deadline_at: after(bind(move.deadline_seconds)) }),
  }),
  starting: ownersPhase,
  running: (move, bind) => ('phase' in move ? ownersPhase(move, bind) : recorded_turn),
  waiting: ({ because, deadline_seconds }, bind) =>
    because === 'answered'
      ? woken(bind(deadline_seconds))
      : {
          ...at_rest,
          waiting_on: bind(because),
          runnable_at: 'case when pending_messages > 0 then now() end',
          deadline_at: after(bind(deadline_seconds)),
        },
  paused: (move, bind) => ({
    ...at_rest,
    ...reasonOf(move, bind),
    deadline_at: 'null',
    ...(move.user_id !== undefined && {
      pause_requested_at: 'now()',
      pause_requested_by: bind(move.user_id),
    }),
  }),
  cancelling: ({ user_id }, bind) => ({
    ...at_rest,
    // If the last worker of a run without one was lost, the sweep ends it, because a step may be open.
    owner: `coalesce(owner, 'nobody')`,
    lease_until: after(String(FENCE_SECONDS)),
    deadline_at: after(String(FENCE_SECONDS)),
    stop_requested_at: 'coalesce(stop_requested_at, now())',
    stop_requested_by: `coalesce(stop_requested_by, ${bind(user_id)})`,
  }),
  completed: (move, bind) => ({ ...ended, ...reasonOf(move, bind), result: bind(move.result) }),
  failed: (move, bind) => ({ ...ended, ...reasonOf(move, bind) }),
  cancelled: () => ended,
}

/** Returns what the move sets and clears. */
export const columnsOf = (move: Move, bind: Bind): Columns => ({
  status: `'${move.to}'`,
  ...(columns[move.to] as (move: Move, bind: Bind) => Columns)(move, bind),
})
