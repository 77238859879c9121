import { rebuildConversation } from '../../agent/conversation.ts'
import type { StatusReason } from '../../contract/runs/runs.ts'
import type { End, Waiting } from '../../core/runs/outcome.ts'
import { rollback } from '../../store/database.ts'
import { requestApproval } from '../../store/pull-requests/approvals.ts'
import { changeRun } from '../../store/runs/change-run.ts'
import { beginFollowUp } from '../../store/runs/follow-ups.ts'
import { postponeMessages } from '../../store/runs/messages.ts'
import { getRun, type RunRow } from '../../store/runs/runs.ts'
import { entry, errorEntry } from '../../trace/entry.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { DatabaseDeps, WaitDeps } from '../deps.ts'
import { recoverLost, whyNotContinued, whyPaused } from '../sandbox/lost-sandbox.ts'
import { chargeLostCalls, closeOpenCalls, estimateLostCalls, readJournal } from './recovered-conversation.ts'

type Deps = DatabaseDeps & WaitDeps

const ACTIVE = ['starting', 'running'] as const

/** Failures that may not recur when the run is resumed. */
const RETRYABLE: StatusReason[] = ['model_unavailable', 'git_unavailable', 'timeout', 'lost']

/** Writes the end of a turn: last entry and status in one transaction. A stop that was requested meanwhile wins over every other end. */
export async function endTurn(deps: Deps, writer: RunWriter, run: RunRow, end: End): Promise<void> {
  if (end.kind === 'lost') return
  if (end.kind === 'shutdown') return handOver(deps, writer)
  if ((end.kind === 'sandbox_lost' || end.kind === 'killed') && (await recoverLost(deps, writer, end))) return
  const tool_name = ['completed', 'waiting', 'waiting_for_checks'].includes(end.kind) ? null : await closeTurn(writer, run)
  // A person who resumed it meanwhile wants it to continue.
  if (end.kind === 'paused' && end.reason === 'user_request') return (await pauseIfRequested(writer)) ? undefined : handOver(deps, writer)
  if (end.kind !== 'stop' && (await writeEnd(deps, writer, run, end, tool_name))) return
  // Only a stop that was requested before prevents an end from being written.
  await settleStop(deps, writer)
}

/** Ends the run as failed without its last entries and open calls: for a turn whose trace or journal cannot be written. */
export async function endWithStatus(deps: Deps, writer: RunWriter, end: Extract<End, { kind: 'failed' }>): Promise<void> {
  const { reason: because, code, message } = end
  if (!(await writer.change({ from: ACTIVE, to: 'failed', because, error: { code, message } }))) await settleStop(deps, writer)
}

/** Cancels the run; a follow-up message that arrived meanwhile starts the next turn. */
const settleStop = (deps: Deps, writer: RunWriter): Promise<boolean> =>
  writer.change({ from: ['cancelling'], to: 'cancelled' }, tx => beginFollowUp(tx, writer.run, deps.queue_seconds))

async function writeEnd(
  deps: Deps,
  writer: RunWriter,
  run: RunRow,
  end: Exclude<End, { kind: 'stop' | 'lost' | 'shutdown' }>,
  running_tool: string | null,
): Promise<boolean> {
  if (end.kind === 'waiting') {
    return (await pauseIfRequested(writer)) || waitForPerson(writer, end, deps.answer_seconds)
  }
  if (end.kind === 'waiting_for_checks') {
    const deadline_seconds = end.seconds
    return (await pauseIfRequested(writer)) || writer.change({ from: ['running'], to: 'waiting', because: 'ci', deadline_seconds })
  }
  if (end.kind === 'paused' && end.reason === 'budget') return pauseForBudget(deps, writer, run, end.message)
  if (end.kind === 'paused' || end.kind === 'sandbox_lost') {
    const because = end.kind === 'paused' ? end.reason : end.kind
    const message = end.kind === 'paused' ? end.message : `${end.message} ${whyPaused(deps, end)}`
    return writer.change({ from: ACTIVE, to: 'paused', because, error: { code: because, message } })
  }
  if (end.kind === 'killed') {
    const message = `${end.message} ${whyNotContinued(deps)}`
    return writeFailure(writer, { kind: 'failed', reason: 'agent_error', code: end.code, message, phase: 'agent' }, running_tool)
  }
  if (end.kind === 'failed') return writeFailure(writer, end, running_tool)
  const entries = [entry({ message_type: 'FINAL_ANSWER', thought: end.thought, observation: end.text })]
  return writer.change({ from: ['running'], to: 'completed', because: end.reason, result: end.text, entries }, async tx => {
    // A message that arrived too late for this turn starts the next one.
    if (!(await postponeMessages(tx, run.organization_id, run.id))) return
    await changeRun(tx, writer.run, { from: ['completed'], to: 'queued', because: 'new_turn', deadline_seconds: deps.queue_seconds })
  })
}

function writeFailure(
  writer: RunWriter,
  { reason, code, message, phase, tool_name }: Extract<End, { kind: 'failed' }>,
  running_tool: string | null,
): Promise<boolean> {
  const entries = [errorEntry({ code, message, retryable: RETRYABLE.includes(reason), phase }, tool_name ?? running_tool)]
  return writer.change({ from: ACTIVE, to: 'failed', because: reason, error: { code, message }, entries })
}

function waitForPerson(writer: RunWriter, { approval_of }: Waiting, deadline_seconds: number): Promise<boolean> {
  const because = approval_of === null ? 'user_input' : 'tool_approval'
  return writer.change({ from: ['running'], to: 'waiting', because, deadline_seconds }, async tx => {
    if (approval_of !== null) await requestApproval(tx, writer.organization_id, writer.run_id, approval_of)
  })
}

/** Closes tool calls without an outcome, before the end of the turn (specification.md#logs). Returns the tool that was running. */
export async function closeTurn(writer: RunWriter, { turn }: Pick<RunRow, 'turn'>): Promise<string | null> {
  const { open_calls, open_model_calls } = rebuildConversation(await readJournal(writer), turn)
  await chargeLostCalls(writer, estimateLostCalls(open_model_calls, null))
  await closeOpenCalls(writer, open_calls)
  return open_calls.find(call => call.started)?.name ?? null
}

/** Pauses the run. If a person changed the budget or sent a message meanwhile, it is requeued instead, perhaps for this worker. */
async function pauseForBudget(deps: Deps, writer: RunWriter, run: RunRow, message: string): Promise<boolean> {
  const error = { code: 'budget', message }
  // Without a model call since the start or resume, the trace would not show the reason.
  const advanced = (await getRun(deps.db, run.organization_id, run.id))?.steps !== run.steps
  const entries = advanced ? [] : [errorEntry({ ...error, retryable: true, phase: 'agent' })]
  let changed = false
  const paused = await writer.change({ from: ACTIVE, to: 'paused', because: 'budget', error, entries }, async tx => {
    const now = await getRun(tx, run.organization_id, run.id)
    changed = now !== undefined && (now.pending_messages > 0 || budgetOf(now) !== budgetOf(run))
    if (changed) rollback(false)
  })
  if (changed) await handOver(deps, writer)
  return paused || changed
}

const budgetOf = (run: RunRow) =>
  JSON.stringify([run.budget_max_cost_usd, run.budget_max_steps, run.budget_max_active_seconds, run.budget_max_wall_seconds])

/** False: no pause is requested. */
const pauseIfRequested = (writer: RunWriter) => writer.change({ from: ACTIVE, to: 'paused', because: 'user_request', only: 'pausing' })

/** Requeues the run for the shutdown of this worker; the next one continues from the journal. */
async function handOver(deps: Deps, writer: RunWriter): Promise<void> {
  const handed = await writer.change({ from: ACTIVE, to: 'queued', because: 'handed_over', only: 'not_pausing' })
  if (!handed && !(await pauseIfRequested(writer))) await settleStop(deps, writer)
}
