import { promptMessage } from '../../agent/conversation.ts'
import type { FinishedCall, FollowsResponse, LoopJournal, Signals } from '../../agent/journal.ts'
import type { PlannedCall } from '../../agent/meter.ts'
import { countedTokens } from '../../core/runs/budget/limits.ts'
import type { ModelMessage, ModelResponse, ToolCall } from '../../model/port.ts'
import { composed, type Redacted } from '../../redaction/port.ts'
import { joined, type Transactional } from '../../store/database.ts'
import type { Addition, AppendResult, NewRecord } from '../../store/runs/append.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { takeMessages } from '../../store/runs/messages.ts'
import type { FilesAfter } from '../../store/workspaces/checkpoints.ts'
import { toolEntries } from '../../trace/agent-entries.ts'
import { entry, errorEntry } from '../../trace/entry.ts'
import { appendToolResult } from '../claim/append-tool-result.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RedactedAddition, RunWriter } from '../claim/run-writer.ts'
import { deltaOf, record, usageOf } from './journal-records.ts'
import { recordCompaction } from './record-compaction.ts'

export type JournalContext = {
  writer: RunWriter
  live: LiveChannel
  model: string
  /** Writes the outcome of a tool, as that many entries, with the files that it may have changed. */
  withFiles(tool_name: string, entries: number, write: WriteOutcome): Promise<AppendResult>
}

/** `files`: null if the tool changes none, or if they could not be kept. */
type WriteOutcome = (files: FilesAfter | null) => Promise<AppendResult>

/**
 * Returns the loop's journal on PostgreSQL. Each write is fenced: one statement, or one transaction where
 * messages, notices or artifacts belong to it.
 */
export function createLoopJournal(context: JournalContext): LoopJournal {
  const { writer, live } = context
  return {
    deliver: () => deliverMessages(writer),
    modelStarted: call =>
      withLimitNotice(context, call, async db => signalsOf(await writer.append(modelStarted(call), db))),
    async modelFailed(failed, charge) {
      await live.responseEnded()
      await writer.append(modelFailed(failed, charge))
    },
    async modelNotCalled() {
      await writer.append({
        records: [record('model_failed', null, { code: 'not_called', charge: null })],
        reserved_usd: '0',
      })
    },
    async modelResponded(response, follows) {
      await live.responseEnded()
      await writer.reportAlarms('response of the model')
      return signalsOf(await writer.appendRedacted(modelResponded(context.model, response, follows)))
    },
    async toolStarted(call, call_kind) {
      await writer.append({ records: toolStarted(call, call_kind) })
    },
    toolFinished: finished => writeToolFinished(context, finished),
    compacted: compacted => recordCompaction(writer, context.model, compacted),
  }
}

const signalsOf = (appended: AppendResult): Signals => ({
  messages_waiting: appended.pending_messages > 0,
  interrupted: appended.interrupt_requested,
})

/** Moves the messages that people sent into the journal and returns them. */
export function deliverMessages(writer: RunWriter): Promise<ModelMessage[]> {
  return writer.db.transaction(async tx => {
    const rows = await takeMessages(tx, writer.organization_id, writer.run_id, writer.epoch)
    const messages = await Promise.all(
      rows.map(async row =>
        promptMessage({
          text: await writer.redactor.text(row.text, 'known'),
          images: row.images,
        }),
      ),
    )
    if (messages.length > 0) await writer.append({ records: [record('message', null, { messages })] }, tx)
    return messages
  })
}

function modelStarted({ reservation, notice }: PlannedCall) {
  const notices =
    notice === null
      ? []
      : [record('message', 'notice', { messages: [notice.message], limits: notice.limits })]
  return {
    records: [...notices, record('model_started', null, { reservation })],
    reserved_usd: reservation.cost_usd ?? '0',
  }
}

function modelFailed(
  { error, attempt, retry_in_ms }: Parameters<LoopJournal['modelFailed']>[0],
  charge: Parameters<LoopJournal['modelFailed']>[1],
): Addition {
  const retryable = retry_in_ms !== null
  const details = {
    code: error.code,
    message: error.message,
    retryable,
    phase: 'model',
    attempt,
    http_status: error.http_status,
    retry_in_ms: retry_in_ms === null ? null : Math.round(retry_in_ms),
  }
  return {
    entries: retryable ? [errorEntry(details)] : [],
    records: [record('model_failed', null, { code: error.code, attempt, charge })],
    reserved_usd: '0',
    ...(charge && { usage: usageOf(charge) }),
  }
}

function modelResponded(
  model: string,
  response: Redacted<ModelResponse>,
  { ends_turn, notice, next }: Redacted<FollowsResponse>,
): RedactedAddition {
  const usage = deltaOf(model, 1, response.usage)
  const body = {
    messages: response.messages,
    tool_calls: response.tool_calls,
    tokens: countedTokens(response.usage),
    usage: response.usage,
    finish_reason: response.finish_reason,
    ...(ends_turn && { ends_turn }),
  }
  const { entries, records } = noticed(notice)
  const all = [record('model_answered', null, body), ...records, ...toolStarted(next)]
  return { entries: entries.map(composed), records: all.map(composed), usage, reserved_usd: '0' }
}

/**
 * Text that only announces work is shown as the agent's view of its plan; a response that cannot be used as
 * an error.
 */
function noticed(notice: FollowsResponse['notice']): Required<Pick<Addition, 'entries' | 'records'>> {
  if (notice === null) return { entries: [], records: [] }
  const { message, trouble, text } = notice
  const messages = [message]
  if (trouble === null)
    return {
      entries: [entry({ message_type: 'PLAN_EVALUATION', thought: text })],
      records: [record('message', null, { messages, nudge: true })],
    }
  return {
    entries: [errorEntry({ ...trouble, retryable: true, phase: 'model' })],
    records: [record('message', null, { messages })],
  }
}

const toolStarted = (call: ToolCall | null, call_kind?: string): NewRecord[] =>
  call === null ? [] : [record('tool_started', call.id, { call, call_kind })]

async function writeToolFinished(
  context: JournalContext,
  { call, result, message, response, ends_turn, next }: Redacted<FinishedCall>,
): Promise<Signals> {
  const { writer, live } = context
  await live.toolEnded()
  await writer.reportAlarms(`output of ${call.name.slice(0, 100)}`)
  const thought = response === null ? null : composed(thoughtOf(response))
  const finished = record('tool_finished', call.id, {
    call_id: call.id,
    message,
    ...(ends_turn && { ends_turn }),
  })
  const entriesOf = (artifact_url: string | null) =>
    toolEntries(composed(call), composed(result), thought, artifact_url)
  const write = ({ records, ...add }: Addition, db?: Transactional) =>
    appendToolResult(
      writer,
      composed(result),
      entriesOf,
      { ...add, records: (records ?? []).map(composed) },
      db,
    )
  const writeWithModelCall = (planned: PlannedCall, files: FilesAfter | null) => {
    const { records, reserved_usd } = modelStarted(planned)
    return withLimitNotice(context, planned, db =>
      write({ records: [finished, ...records], reserved_usd, files }, db),
    )
  }
  const written = await context.withFiles(call.name, entriesOf(null).length, files =>
    next !== null && 'kind' in next
      ? writeWithModelCall(next, files)
      : write({ records: [finished, ...toolStarted(next)], files }),
  )
  return signalsOf(written)
}

/** The reasoning of the model before its tool calls, or its text where it gives no reasoning. */
function thoughtOf(response: ModelResponse): string | null {
  return [response.reasoning, response.text].find(text => text != null && text.trim() !== '')?.trim() ?? null
}

/**
 * Writes a planned call. A notice about limits is also an event of the run, in the same transaction
 * (specification.md#logs).
 */
async function withLimitNotice<T>(
  { writer, live }: JournalContext,
  { notice }: PlannedCall,
  write: (db: Transactional) => Promise<T>,
): Promise<T> {
  if (notice === null) return write(writer.db)
  const limits = notice.limits
  const result = await writer.db.transaction(async tx => {
    const written = await write(joined(tx))
    await reportRun(tx, writer.run, { event: { type: 'agent_run.limits_near', body: { limits } } })
    return written
  })
  live.limitsNear(limits)
  return result
}
