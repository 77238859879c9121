import { z } from 'zod'
import { RECORDED_OWNER } from '../../core/runs/recorded-run.ts'
import { changedOne, type Db, firstRow } from '../database.ts'
import { parseColumn } from '../json-column.ts'
import { insertSql, now, statement } from '../statement.ts'
import { recording, rowOf } from './run-states.ts'

/**
 * A session belongs to one user: the same `session_id` of another user or organization is another session.
 */
type SessionKey = { organization_id: number; user_id: number; session_id: string }
const OpenCalls = z.array(
  z.object({ id: z.string(), name: z.string(), input: z.unknown(), at: z.number().nullable() }),
)
/**
 * The state between reports. `open_calls`: tool calls without a result; `answer`: the newest answer of the
 * turn.
 */
type RecordingState = { open_calls: z.infer<typeof OpenCalls>; answer: string }

/** Serializes the creation of a session until the transaction ends. */
export async function lockSession(
  db: Db,
  { organization_id, user_id, session_id }: SessionKey,
): Promise<void> {
  await db.query({
    name: 'lock_recorded_session',
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 5))',
    values: [`${organization_id} ${user_id} ${session_id}`],
  })
}

/** Returns the run that records the session, or undefined. */
export function findSession(
  db: Db,
  { organization_id, user_id, session_id }: SessionKey,
): Promise<{ run_id: number } | undefined> {
  return firstRow<{ run_id: number }>(db, {
    name: 'find_recorded_session',
    text: `select run_id
      from recorded_sessions
      where organization_id = $1 and user_id = $2 and session_id = $3`,
    values: [organization_id, user_id, session_id],
  })
}

/**
 * Creates the session and its run, which is running until it reports its end. It adds nothing to the usage of
 * the organization.
 */
export async function insertSession(
  db: Db,
  key: SessionKey,
  run: { title: string; model: string },
): Promise<{ run_id: number }> {
  const { rows } = await db.query<{ run_id: number }>(
    statement(
      'insert_recorded_session',
      bind => `with run as (
          ${insertSql(
            bind,
            'runs',
            {
              organization_id: key.organization_id,
              user_id: key.user_id,
              source_type: 'LOCAL',
              agent_type: 'claude_code',
              model: run.model,
              prompt: '',
              title: run.title,
              auto_create_pr: false,
              started_at: now,
              cost_known: false,
              ...rowOf(recording),
            },
            { end: 'returning id, organization_id, user_id' },
          )}
        )
        insert into recorded_sessions (organization_id, user_id, session_id, run_id)
        select organization_id, user_id, ${bind(key.session_id)}, id
        from run
        returning run_id`,
    ),
  )
  const [row] = rows
  if (!row) throw new Error('a recorded session was not inserted')
  return row
}

/** Returns the state of a recording. Call with the run locked, so that it does not change meanwhile. */
export async function getRecording(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<RecordingState | undefined> {
  const { rows } = await db.query<{ open_calls: string; answer: string }>({
    name: 'get_recording',
    text: `select open_calls, answer
      from recorded_sessions
      where organization_id = $1 and run_id = $2`,
    values: [organization_id, run_id],
  })
  return rows[0] && { ...rows[0], open_calls: parseColumn(OpenCalls, rows[0].open_calls) }
}

/**
 * The changes of a report to the run: null leaves a field unchanged; `result` is for a run that has ended.
 */
export type RecordedChange = {
  prompt: string | null
  title: string | null
  model: string | null
  result: string | null
}

/** Saves the state after a report, and postpones the time at which a live session counts as abandoned. */
export function saveRecording(
  db: Db,
  organization_id: number,
  run_id: number,
  state: RecordingState,
  change: RecordedChange,
): Promise<boolean> {
  return changedOne(db, {
    name: 'save_recording',
    text: `with run as (
        update runs
        set prompt = coalesce($5, prompt), title = coalesce($6, title), model = coalesce($7, model),
          result = coalesce($8, result),
          lease_until = case
            when owner = '${RECORDED_OWNER}' then ${recording.lease_until}
            else lease_until
          end,
          deadline_at = case
            when owner = '${RECORDED_OWNER}' then ${recording.deadline_at}
            else deadline_at
          end, updated_at = now(), last_progress_at = now()
        where organization_id = $1 and id = $2
        returning id
      )
      update recorded_sessions
      set open_calls = $3, answer = $4
      where organization_id = $1 and run_id = $2`,
    values: [
      ...[organization_id, run_id, JSON.stringify(state.open_calls), state.answer],
      ...[change.prompt, change.title, change.model, change.result],
    ],
  })
}
