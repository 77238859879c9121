import { type Conversation, type JournalRecord, type OpenCall, promptMessage, toolMessage } from '../../agent/conversation.ts'
import type { LoopJournal, Signals } from '../../agent/journal.ts'
import type { PlannedCall } from '../../agent/meter.ts'
import { NOT_RUN } from '../../core/runs/not-run.ts'
import type { Reservation } from '../../core/runs/reservation.ts'
import { countedTokens } from '../../core/runs/run-limits.ts'
import type { ModelAnswer, ModelMessage, ToolCall } from '../../model/port.ts'
import { joined, type Transactional } from '../../store/database.ts'
import type { Addition, AppendAnswer, NewRecord, UsageDelta } from '../../store/runs/append.ts'
import { insertEvent } from '../../store/runs/events.ts'
import { listJournal } from '../../store/runs/journal.ts'
import { takeMessages } from '../../store/runs/messages.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { toolEntries } from '../../trace/agent-entries.ts'
import { errorEntry } from '../../trace/entry.ts'
import type { Claim } from '../claim/run-writer.ts'
import { appendToolResult } from '../claim/keep-output.ts'
import type { SetupFailure } from '../setup/setup.ts'
import type { Restored } from '../workspace/restore.ts'

const record = (kind: NewRecord['kind'], key: string | null, body: unknown): NewRecord => ({ kind, key, body: JSON.stringify(body) })
const signals = (answer: AppendAnswer): Signals => ({
  messages_waiting: answer.pending_messages > 0,
  interrupted: answer.interrupt_requested,
})

/** Is told where the entries of a tool that has ended stand. */
type Placed = (seq: number, through_seq: number) => void

/** The loop's journal on PostgreSQL: one statement a write, each under the fence. `onToolEnd`: a tool of that name has ended, and is not written yet. */
export function createLoopJournal(claim: Claim, model: string, onToolEnd: (tool_name: string) => Placed | undefined): LoopJournal {
  return {
    async deliver() {
      return claim.db.transaction(async tx => {
        const rows = await takeMessages(tx, claim.organization_id, claim.run_id, claim.epoch)
        const messages = await Promise.all(
          rows.map(async row =>
            promptMessage({
              text: await claim.redactor.text(row.text, 'known'),
              images: row.images === null ? [] : (JSON.parse(row.images) as string[]),
              from_person: true,
            }),
          ),
        )
        if (messages.length > 0) await claim.append({ records: [record('message', null, { messages })] }, tx)
        return messages
      })
    },
    async modelStarted(call) {
      return told(claim, call, async db => signals(await claim.append(started(call), db)))
    },
    async modelFailed({ error, attempt, retry_in_ms }, charge) {
      await claim.answerEnded()
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
      await claim.append({
        entries: retryable ? [errorEntry(details)] : [],
        records: [record('model_failed', null, { code: error.code, attempt, charge })],
        reserved_usd: '0',
        ...(charge && { usage: usageOf(charge) }),
      })
    },
    async modelNotCalled() {
      await claim.append({ records: [record('model_failed', null, { code: 'not_called', charge: null })], reserved_usd: '0' })
    },
    async modelAnswered(answer, ends_turn, next) {
      await claim.answerEnded()
      await claim.tellAlarms('answer of the model')
      const { input_tokens, output_tokens, cached_tokens, cost_usd } = answer.usage
      const usage: UsageDelta = { model, steps: 1, input_tokens, output_tokens, cached_tokens, cost_usd }
      const body = {
        messages: answer.messages,
        tool_calls: answer.tool_calls,
        tokens: countedTokens(answer.usage),
        usage: answer.usage,
        finish_reason: answer.finish_reason,
        ...(ends_turn && { ends_turn }),
      }
      return signals(await claim.append({ records: [record('model_answered', null, body), ...intent(next)], usage, reserved_usd: '0' }))
    },
    async toolStarted(call) {
      await claim.append({ records: intent(call) })
    },
    async toolFinished(call, result, message, answer, ends_turn, next) {
      await claim.toolEnded()
      await claim.tellAlarms(`output of ${call.name.slice(0, 100)}`)
      const placed = onToolEnd(call.name)
      const thought = answer === null ? null : thoughtOf(answer)
      const finished = record('tool_finished', call.id, { call_id: call.id, message, ...(ends_turn && { ends_turn }) })
      const entriesOf = (artifact_url: string | null) => toolEntries(call, result, thought, artifact_url)
      const write = (add: Addition, db?: Transactional) => appendToolResult(claim, result, entriesOf, add, db)
      const writeBoth = (call: PlannedCall) => {
        const { records, ...set_aside } = started(call)
        return told(claim, call, db => write({ records: [finished, ...records], ...set_aside }, db))
      }
      const written = next !== null && 'kind' in next ? await writeBoth(next) : await write({ records: [finished, ...intent(next)] })
      placed?.(written.total_logs - entriesOf(null).length + 1, written.total_logs)
      return signals(written)
    },
    async trouble(code, message, told) {
      await claim.append({
        entries: [errorEntry({ code, message, retryable: true, phase: 'model' })],
        records: [record('message', null, { messages: [told] })],
      })
    },
    async compacted(keep_last) {
      await claim.append({ records: [record('compacted', null, { keep_last })] })
    },
  }
}

/** What is written before a call of the model. */
function started({ reservation, notice }: PlannedCall) {
  const notices = notice === null ? [] : [record('message', 'notice', { messages: [notice.message], limits: notice.limits })]
  return { records: [...notices, record('model_started', null, { reservation })], reserved_usd: reservation.cost_usd ?? '0' }
}

/** A notice of limits is an event besides, in the same transaction (specification.md#logs). */
async function told<T>(claim: Claim, { notice }: PlannedCall, write: (db: Transactional) => Promise<T>): Promise<T> {
  if (notice === null) return write(claim.db)
  const limits = notice.limits
  const answer = await claim.db.transaction(async tx => {
    const written = await write(joined(tx))
    await insertEvent(tx, claim.organization_id, claim.run_id, 'agent_run.limits_near', { limits })
    return written
  })
  claim.notify()
  claim.limitsNear(limits)
  return answer
}

export const usageOf = ({ model, input_tokens, output_tokens, cost_usd }: Reservation): UsageDelta => ({
  ...{ model, input_tokens, output_tokens, cost_usd },
  ...{ steps: 0, cached_tokens: 0 },
})

/** Nobody knows what a call came to whose worker died: all that was set aside for it is counted, so that no call is without its cost. */
export async function chargeLostCall(claim: Claim, charge: Reservation): Promise<void> {
  await claim.append({ records: [record('model_failed', null, { code: 'lost', charge })], usage: usageOf(charge), reserved_usd: '0' })
}

const intent = (call: ToolCall | null): NewRecord[] => (call === null ? [] : [record('tool_started', call.id, { call })])

/** What the model said before it called its tools: its reasoning where it gives one, otherwise its words. */
function thoughtOf(answer: ModelAnswer): string | null {
  return [answer.reasoning, answer.text].find(text => text != null && text.trim() !== '')?.trim() ?? null
}

/** The journal of a run as the loop reads it. */
export async function readJournal(claim: Claim): Promise<JournalRecord[]> {
  const rows = await listJournal(claim.db, claim.organization_id, claim.run_id)
  return rows.map(row => ({ ...(JSON.parse(row.body) as object), kind: row.kind, turn: row.turn }) as JournalRecord)
}

/** That this owner goes on where another left off, and what it found open there; before any of that is closed or done again. */
export async function recordRecovery(claim: Claim, run: RunRow, { open_calls, model_call_open }: Conversation): Promise<void> {
  const body = {
    cause: run.recovery_cause,
    since: run.recovering_since,
    host: run.workspace_host,
    model_call_reissued: model_call_open,
    interrupted: open_calls.filter(call => call.started).map(({ id, name }) => ({ call_id: id, tool_name: name })),
  }
  await claim.append({ records: [record('recovered', null, body)] })
}

/** What the agent has to know of files that were brought from elsewhere. It is part of the conversation from then on. */
export async function tellRestored(claim: Claim, restored: Restored | null): Promise<ModelMessage[]> {
  if (restored === null) return []
  const { how, seq, up_to_date } = restored
  const files =
    how === 'fresh'
      ? 'nothing of its files could be brought back: it is a fresh checkout'
      : up_to_date
        ? 'its files are as they were'
        : `its files are as they were after entry ${seq} of the trace, and what was changed later is lost`
  const content = `The workspace was set up anew: ${files}. Files that git ignores, such as installed packages, and running processes are gone. Look before you rely on them.`
  const message: ModelMessage = { role: 'user', content }
  await claim.append({ records: [record('message', null, { messages: [message] })] })
  return [message]
}

/** What the agent has to know of an environment that is not what it should be. It is part of the conversation from then on. */
export async function tellSetupFailures(claim: Claim, failures: SetupFailure[]): Promise<ModelMessage[]> {
  if (failures.length === 0) return []
  const told = failures.map(({ command, why }) => `- \`${command}\` ${why}`).join('\n')
  const content = `Of the commands that prepare this workspace some did not succeed, so what they install may be missing:\n${told}`
  const message: ModelMessage = { role: 'user', content: await claim.redactor.text(content) }
  await claim.append({ records: [record('message', null, { messages: [message] })] })
  return [message]
}

/** Outcomes for calls whose outcome nobody knows: never run again, and the agent is told (specification.md#journal). */
export async function closeOpenCalls(claim: Claim, calls: OpenCall[]): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = []
  for (const { started, inherited, ...call } of calls) {
    const error = started
      ? 'Interrupted: whether it took effect is unknown. Look before you repeat it.'
      : inherited
        ? `${NOT_RUN}the run was forked before.`
        : `${NOT_RUN}the turn was interrupted before.`
    const result = {
      status: 'interrupted' as const,
      output: { status: 'interrupted', error },
      duration_ms: 0,
      truncated: false,
      whole: null,
    }
    const message = toolMessage(call, result.output)
    await claim.append({
      // It stands in the trace of the run that had begun it.
      entries: inherited ? [] : toolEntries(call, result, null, null),
      records: [record('tool_finished', call.id, { call_id: call.id, message })],
    })
    messages.push(message)
  }
  return messages
}
