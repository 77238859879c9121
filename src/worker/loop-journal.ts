import { type Conversation, type JournalRecord, promptMessage, toolMessage } from '../agent/conversation.ts'
import type { LoopJournal, Signals } from '../agent/loop.ts'
import type { ModelAnswer, ModelMessage, ToolCall } from '../model/port.ts'
import type { AppendAnswer, NewRecord, UsageDelta } from '../store/append.ts'
import { listJournal } from '../store/journal.ts'
import { takeMessages } from '../store/messages.ts'
import type { RunRow } from '../store/runs.ts'
import { toolEntries } from '../trace/agent-entries.ts'
import { errorEntry } from '../trace/entry.ts'
import type { Claim } from './claim.ts'
import { appendToolResult } from './keep-output.ts'

const record = (kind: NewRecord['kind'], key: string | null, body: unknown): NewRecord => ({ kind, key, body: JSON.stringify(body) })
const signals = (answer: AppendAnswer): Signals => ({
  messages_waiting: answer.pending_messages > 0,
  interrupted: answer.interrupt_requested,
})

/** The loop's journal on PostgreSQL: one statement a write, each under the fence. */
export function createLoopJournal(claim: Claim, model: string, onUsage: (usage: ModelAnswer['usage']) => void): LoopJournal {
  return {
    async deliver(ended = false) {
      return claim.db.transaction(async tx => {
        const rows = await takeMessages(tx, claim.organization_id, claim.run_id, claim.epoch)
        const messages = rows.map(row =>
          promptMessage({ text: row.text, images: row.images === null ? [] : (JSON.parse(row.images) as string[]), from_person: true }),
        )
        const delivered = messages.length > 0 ? [record('message', null, { messages })] : []
        if (!ended || messages.length > 0) await claim.append({ records: [...delivered, record('model_started', null, {})] }, tx)
        return messages
      })
    },
    async modelStarted() {
      return signals(await claim.append({ records: [record('model_started', null, {})] }))
    },
    async modelFailed({ error, attempt, retry_in_ms }) {
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
      await claim.append({ entries: retryable ? [errorEntry(details)] : [], records: [record('model_started', null, { attempt })] })
    },
    async modelAnswered(answer, ends_turn, next) {
      onUsage(answer.usage)
      const { input_tokens, output_tokens, cached_tokens, cost_usd } = answer.usage
      const usage: UsageDelta = { model, steps: 1, input_tokens, output_tokens, cached_tokens, cost_usd }
      const body = {
        messages: answer.messages,
        tool_calls: answer.tool_calls,
        tokens: input_tokens + output_tokens,
        usage: answer.usage,
        finish_reason: answer.finish_reason,
        ...(ends_turn && { ends_turn }),
      }
      return signals(await claim.append({ records: [record('model_answered', null, body), ...intent(next)], usage }))
    },
    async toolFinished(call, result, message, answer, ends_turn, next) {
      claim.toolEnded()
      const thought = answer === null ? null : thoughtOf(answer)
      const records = [
        record('tool_finished', call.id, { call_id: call.id, message, ...(ends_turn && { ends_turn }) }),
        ...(next === 'model' ? [record('model_started', null, {})] : intent(next)),
      ]
      return signals(await appendToolResult(claim, result, artifact_url => toolEntries(call, result, thought, artifact_url), records))
    },
    async trouble(code, message, told) {
      await claim.append({
        entries: [errorEntry({ code, message, retryable: true, phase: 'model' })],
        records: [record('message', null, { messages: [told] })],
      })
    },
    async compacted(keep_last) {
      await claim.append({ records: [record('compacted', null, { keep_last }), record('model_started', null, {})] })
    },
  }
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

/** Outcomes for calls whose outcome nobody knows: never run again, and the agent is told (decisions §1). */
export async function closeOpenCalls(claim: Claim, calls: (ToolCall & { started: boolean })[]): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = []
  for (const { started, ...call } of calls) {
    const error = started
      ? 'Interrupted: whether it took effect is unknown. Look before you repeat it.'
      : 'Not run: the turn was interrupted before.'
    const result = {
      status: 'interrupted' as const,
      output: { status: 'interrupted', error },
      duration_ms: 0,
      truncated: false,
      whole: null,
    }
    const message = toolMessage(call, result.output)
    await claim.append({
      entries: toolEntries(call, result, null, null),
      records: [record('tool_finished', call.id, { call_id: call.id, message })],
    })
    messages.push(message)
  }
  return messages
}
