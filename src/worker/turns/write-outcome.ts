import { rebuildConversation } from '../../agent/conversation.ts'
import type { StatusReason } from '../../contract/runs/runs.ts'
import { budgetOf } from '../../core/runs/budget/limits.ts'
import { type Failure, type FinalOutcome, moveOf, type TurnOutcome } from '../../core/runs/outcome.ts'
import { rollback } from '../../store/database.ts'
import { requestApproval } from '../../store/pull-requests/approvals.ts'
import { changeRun } from '../../store/runs/change-run.ts'
import { beginFollowUp } from '../../store/runs/follow-ups.ts'
import { postponeMessages } from '../../store/runs/messages.ts'
import { getRun, type RunRow } from '../../store/runs/runs.ts'
import { entry, errorEntry } from '../../trace/entry.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { notRecovered, recoverLost } from '../sandbox/lost-sandbox.ts'
import type { WorkerServices } from '../services.ts'
import { chargeLostCalls, closeOpenCalls, estimateLostCalls, readJournal } from './recovered-conversation.ts'

type Deps = Pick<WorkerServices, 'db' | 'queue_seconds' | 'answer_seconds' | 'max_losses'>

const ACTIVE = ['starting', 'running'] as const

/** Failures that may not recur when the run is resumed. */
const RETRYABLE: StatusReason[] = ['model_unavailable', 'git_unavailable', 'timeout', 'lost']

/**
 * Writes the outcome of a turn: last entry and status in one transaction. A stop that was requested meanwhile
 * wins over every other outcome.
 */
export async function writeOutcome(
  deps: Deps,
  writer: RunWriter,
  run: RunRow,
  outcome: TurnOutcome,
): Promise<void> {
  if (outcome.kind === 'lost') return
  if (outcome.kind === 'shutdown') return handOver(deps, writer)
  let final = outcome
  if (final.kind === 'sandbox_lost' || final.kind === 'killed') {
    if (await recoverLost(deps, writer, final)) return
    final = notRecovered(deps, final)
  }
  const running_tool = ['completed', 'waiting', 'waiting_for_checks'].includes(final.kind)
    ? null
    : await closeTurn(writer, run)
  // A person who resumed it meanwhile wants it to continue.
  if (final.kind === 'paused' && final.reason === 'user_request')
    return (await pauseIfRequested(writer)) ? undefined : handOver(deps, writer)
  if (final.kind !== 'stop' && (await write(deps, writer, run, final, running_tool))) return
  // Only a stop that was requested before prevents an outcome from being written.
  await settleStop(deps, writer)
}

/**
 * Ends the run as failed without its last entries and open calls: for a turn whose trace or journal cannot be
 * written.
 */
export async function writeStatus(deps: Deps, writer: RunWriter, failure: Failure): Promise<void> {
  if (!(await writer.change(moveOf(failure, deps.answer_seconds)))) await settleStop(deps, writer)
}

/** Cancels the run; a follow-up message that arrived meanwhile starts the next turn. */
const settleStop = (deps: Deps, writer: RunWriter): Promise<boolean> =>
  writer.change(moveOf({ kind: 'stop' }, deps.answer_seconds), tx =>
    beginFollowUp(tx, writer.run, deps.queue_seconds),
  )

async function write(
  deps: Deps,
  writer: RunWriter,
  run: RunRow,
  outcome: FinalOutcome,
  running_tool: string | null,
): Promise<boolean> {
  const move = moveOf(outcome, deps.answer_seconds)
  const waits = outcome.kind === 'waiting' || outcome.kind === 'waiting_for_checks'
  if (waits && (await pauseIfRequested(writer))) return true
  if (outcome.kind === 'waiting') {
    const { approval_of } = outcome
    return writer.change(move, async tx => {
      if (approval_of !== null) await requestApproval(tx, writer.organization_id, writer.run_id, approval_of)
    })
  }
  if (outcome.kind === 'paused' && outcome.reason === 'budget')
    return pauseForBudget(deps, writer, run, outcome)
  if (outcome.kind === 'failed') {
    const { reason, code, message, phase, tool_name } = outcome
    const details = { code, message, retryable: RETRYABLE.includes(reason), phase }
    return writer.change({ ...move, entries: [errorEntry(details, tool_name ?? running_tool)] })
  }
  if (outcome.kind !== 'completed') return writer.change(move)
  const entries = [
    entry({ message_type: 'FINAL_ANSWER', thought: outcome.thought, observation: outcome.text }),
  ]
  return writer.change({ ...move, entries }, async tx => {
    // A message that arrived too late for this turn starts the next one.
    if (!(await postponeMessages(tx, run.organization_id, run.id))) return
    await changeRun(tx, writer.run, {
      from: ['completed'],
      to: 'queued',
      because: 'new_turn',
      deadline_seconds: deps.queue_seconds,
    })
  })
}

/**
 * Closes tool calls without an outcome, before the end of the turn (specification.md#logs). Returns the tool
 * that was running.
 */
export async function closeTurn(writer: RunWriter, { turn }: Pick<RunRow, 'turn'>): Promise<string | null> {
  const { open_calls, open_model_calls } = rebuildConversation(await readJournal(writer), turn)
  await chargeLostCalls(writer, estimateLostCalls(open_model_calls, null))
  await closeOpenCalls(writer, open_calls)
  return open_calls.find(call => call.started)?.name ?? null
}

/**
 * Pauses the run. If a person changed the budget or sent a message meanwhile, it is requeued instead, perhaps
 * for this worker.
 */
async function pauseForBudget(
  deps: Deps,
  writer: RunWriter,
  run: RunRow,
  outcome: FinalOutcome & { kind: 'paused' },
): Promise<boolean> {
  const { reason: code, message } = outcome
  // Without a model call since the start or resume, the trace would not show the reason.
  const advanced = (await getRun(deps.db, run.organization_id, run.id))?.steps !== run.steps
  const entries = advanced ? [] : [errorEntry({ code, message, retryable: true, phase: 'agent' })]
  let changed = false
  const paused = await writer.change({ ...moveOf(outcome, deps.answer_seconds), entries }, async tx => {
    const now = await getRun(tx, run.organization_id, run.id)
    changed = now !== undefined && (now.pending_messages > 0 || budgetText(now) !== budgetText(run))
    if (changed) rollback(false)
  })
  if (changed) await handOver(deps, writer)
  return paused || changed
}

const budgetText = (run: RunRow) => JSON.stringify(budgetOf(run))

/** False: no pause is requested. */
const pauseIfRequested = (writer: RunWriter) =>
  writer.change({ from: ACTIVE, to: 'paused', because: 'user_request', only: 'pausing' })

/** Requeues the run for the shutdown of this worker; the next one continues from the journal. */
async function handOver(deps: Deps, writer: RunWriter): Promise<void> {
  const handed = await writer.change({
    from: ACTIVE,
    to: 'queued',
    because: 'handed_over',
    only: 'not_pausing',
  })
  if (!handed && !(await pauseIfRequested(writer))) await settleStop(deps, writer)
}
