import { limits } from '../../contract/limits.ts'
import type { RecordedSession, SessionStatus } from '../../contract/runs/recorded-sessions.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { titleOf } from '../../core/runs/title.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import { ServiceError } from '../../core/service-error.ts'
import { storedText } from '../../core/text/stored-text.ts'
import type { BackgroundRedactor } from '../../redaction/port.ts'
import type { Db } from '../../store/database.ts'
import type { NewEntry } from '../../store/runs/append.ts'
import { changeRun, reportRun } from '../../store/runs/change-run.ts'
import {
  findSession,
  getRecording,
  insertSession,
  lockSession,
  type RecordedChange,
  saveRecording,
} from '../../store/runs/recorded-sessions.ts'
import { lockRun, type RunRow } from '../../store/runs/runs.ts'
import { closeCalls, finalAnswer, type OpenCall, recordLog, sessionError } from '../../trace/recorded-log.ts'
import { redactedEntry } from '../../trace/redacted-entry.ts'
import type { Context } from '../context.ts'
import { secretsRedactor } from '../secrets/known-secrets.ts'

/** Title of a recorded run before its user wrote anything, and its model before the agent responded. */
const UNNAMED = 'Claude Code session'
const UNKNOWN_MODEL = 'claude_code'

const keyOf = ({ organization_id, actor }: Context, session_id: string) => ({
  organization_id,
  user_id: actor.user_id,
  session_id,
})
const shown = (ctx: Context, session_id: string, agent_run_id: number): RecordedSession => ({
  agent_run_id,
  session_id,
  web_url: traceUrl(ctx.base_url, agent_run_id),
})

/**
 * Starts to record a session of the caller. A session that is already recorded keeps its run, whatever the
 * run's status is.
 */
export async function createRecordedSession(ctx: Context, session_id: string): Promise<RecordedSession> {
  const key = keyOf(ctx, session_id)
  return ctx.db.transaction(async tx => {
    await lockSession(tx, key)
    const known = await findSession(tx, key)
    if (known) return shown(ctx, session_id, known.run_id)
    const { run_id } = await insertSession(tx, key, { title: UNNAMED, model: UNKNOWN_MODEL })
    const run = { organization_id: ctx.organization_id, id: run_id }
    await reportRun(tx, run, { event: { type: 'agent_run.created', body: { status: 'running' } } })
    return shown(ctx, session_id, run_id)
  })
}

/**
 * Appends the content of a session log. Throws 404 for a session that the caller has not created, 409 when
 * its run was stopped, is banned, or has reached the maximum number of entries of a recording.
 */
export async function addSessionLog(
  ctx: Context,
  session_id: string,
  log: Record<string, unknown>,
): Promise<RecordedSession> {
  // Redacts before truncating, since half a secret is not recognized; and before locking the run, since a
  // large log takes a while.
  const redactor = await secretsRedactor(ctx.db, ctx, null)
  const redacted = await redactor.value(log)
  return record(ctx, session_id, async (tx, recording) => {
    const { run, calls, answer } = recording
    if (run.total_logs >= limits.session_entries)
      throw new ServiceError(
        'conflict',
        `This recording is full: it has ${limits.session_entries} entries. Start a new session.`,
      )
    const recorded = recordLog(redacted, calls, { user_id: run.user_id, final: run.status === 'completed' })
    const entries = recorded.entries.slice(0, limits.session_entries - run.total_logs - 1)
    if (entries.length < recorded.entries.length)
      entries.push(
        sessionError(
          `The recording ends here: a session is recorded up to ${limits.session_entries} entries.`,
        ),
      )
    await reportRun(tx, run, { entries: await redactedEntries(redactor, entries) })
    const prompt =
      run.prompt === '' && recorded.prompt !== null
        ? storedText(recorded.prompt.slice(0, limits.prompt_chars))
        : null
    // A title that a person has set stays.
    const title = prompt !== null && run.title === UNNAMED ? titleOf(prompt) : null
    const newest = recorded.answer === null ? answer : storedText(recorded.answer)
    const change = {
      prompt,
      title,
      model: recorded.model === null ? null : storedText(recorded.model),
      result: null,
    }
    const late = run.status === 'completed' && recorded.answer !== null
    await keep(
      tx,
      run,
      { calls: recorded.calls, answer: newest },
      { ...change, result: late ? newest : null },
    )
  })
}

/**
 * Moves the run to the status that the session reports; the current status changes nothing. Throws as
 * `addSessionLog`.
 */
export async function setSessionStatus(
  ctx: Context,
  session_id: string,
  status: SessionStatus,
): Promise<RecordedSession> {
  return record(ctx, session_id, async (tx, { run, calls, answer }) => {
    if (status === 'ACTIVE') {
      const continues = !isTerminal(run.status)
      // A report that changes no status is progress too, which followers see.
      await (continues ? reportRun(tx, run, {}) : beginTurn(tx, run))
      await keep(tx, run, { calls, answer: continues ? answer : '' })
      return
    }
    if (isTerminal(run.status)) return
    const completed = status === 'COMPLETE'
    const message = 'The local session ended with an error.'
    const last = completed ? (answer === '' ? [] : [finalAnswer(answer)]) : [sessionError(message)]
    const entries = await redactedEntries(await secretsRedactor(tx, ctx, null), [
      ...closeCalls(calls),
      ...last,
    ])
    await keep(tx, run, { calls: [], answer })
    const because = 'agent_error'
    const from = ['running'] as const
    if (completed) await changeRun(tx, run, { from, to: 'completed', result: answer, entries })
    else await changeRun(tx, run, { from, to: 'failed', because, error: { code: because, message }, entries })
  })
}

type Recording = { run: RunRow; calls: OpenCall[]; answer: string }

/** One report of a session at a time, with its run locked and live if it was only abandoned. */
async function record(
  ctx: Context,
  session_id: string,
  report: (tx: Db, recording: Recording) => Promise<void>,
): Promise<RecordedSession> {
  return ctx.db.transaction(async tx => {
    const found = await findSession(tx, keyOf(ctx, session_id))
    let run = found && (await lockRun(tx, ctx.organization_id, found.run_id))
    if (!run) throw new ServiceError('not_found', 'Session not found. Create it first.')
    if (run.banned || run.status === 'cancelled')
      throw new ServiceError(
        'conflict',
        `The recording of this session was ${run.banned ? 'banned' : 'stopped'}: it accepts no more reports.`,
      )
    const state = await getRecording(tx, ctx.organization_id, run.id)
    let answer = state?.answer ?? ''
    if (run.status_reason === 'timeout') {
      await beginTurn(tx, run)
      run = (await lockRun(tx, ctx.organization_id, run.id)) ?? run
      answer = ''
    }
    await report(tx, { run, calls: state?.open_calls ?? [], answer })
    return shown(ctx, session_id, run.id)
  })
}

const beginTurn = (tx: Db, run: RunRow) =>
  changeRun(tx, run, { from: ['completed', 'failed'], to: 'running', because: 'session_reports' })

const redactedEntries = (redactor: BackgroundRedactor, entries: NewEntry[]) =>
  Promise.all(entries.map(entry => redactedEntry(redactor, entry)))

const unchanged: RecordedChange = { prompt: null, title: null, model: null, result: null }
const keep = (
  tx: Db,
  run: RunRow,
  { calls, answer }: Pick<Recording, 'calls' | 'answer'>,
  change = unchanged,
) => saveRecording(tx, run.organization_id, run.id, { open_calls: calls, answer }, change)
