import {
  type Conversation,
  type JournalRecord,
  type OpenCall,
  type OpenModelCall,
  toolMessage,
} from '../../agent/conversation.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { chargeOfLost } from '../../core/runs/budget/pot.ts'
import { NOT_RUN } from '../../core/runs/not-run.ts'
import type { ModelMessage, ToolCall } from '../../model/port.ts'
import { composed } from '../../redaction/port.ts'
import { listJournal } from '../../store/runs/journal.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { ActionRef } from '../../store/workspaces/checkpoints.ts'
import { toolEntries } from '../../trace/agent-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { SetupFailure } from '../setup/run-setup.ts'
import type { RestoredWorkspace } from '../workspace/restore.ts'
import { record, usageOf } from './journal-records.ts'

/** Returns the journal of a run as the loop reads it. */
export async function readJournal(writer: RunWriter): Promise<JournalRecord[]> {
  const rows = await listJournal(writer.db, writer.organization_id, writer.run_id)
  return rows.map(
    ({ body, kind, turn, key, created_at }) =>
      ({ ...storedJson<object>(body), kind, turn, key, created_at }) as JournalRecord,
  )
}

/**
 * Records that this worker continues after another one, and what was open then. Called before any of it is
 * closed or repeated.
 */
export async function recordRecovery(
  writer: RunWriter,
  run: RunRow,
  { open_calls, open_model_calls }: Conversation,
): Promise<void> {
  const body = {
    cause: run.recovery_cause,
    since: run.recovering_since,
    host: run.workspace_host,
    model_call_reissued: open_model_calls.length > 0,
    interrupted: open_calls
      .filter(call => call.started)
      .map(({ id, name }) => ({ call_id: id, tool_name: name })),
  }
  await writer.append({ records: [record('recovered', null, body)] })
}

/**
 * Returns model calls whose worker died at `lost_at` with their estimated cost instead of their reservation.
 * No provider reports the cost of a call whose response did not arrive
 * (decisions.md#failed-calls-are-charged).
 */
export const estimateLostCalls = (calls: OpenModelCall[], lost_at: Date | null): OpenModelCall[] =>
  calls.map(({ reservation, started_at, ...call }) => ({
    ...call,
    reservation:
      reservation && started_at ? chargeOfLost(reservation, lifetimeOf(started_at, lost_at)) : reservation,
  }))

/** Milliseconds of a call. An earlier loss is none of this call. */
function lifetimeOf(started_at: Date, lost_at: Date | null): number {
  const until = lost_at !== null && lost_at >= started_at ? lost_at : new Date()
  return until.getTime() - started_at.getTime()
}

/** Charges model calls whose worker died, as `estimateLostCalls` has estimated them. */
export async function chargeLostCalls(writer: RunWriter, calls: OpenModelCall[]): Promise<void> {
  for (const { key, reservation: charge } of calls) {
    if (charge === null) continue
    await writer.append({
      records: [record('model_failed', key, { code: 'lost', charge, estimated: true })],
      usage: usageOf(charge),
      reserved_usd: '0',
    })
  }
}

/**
 * The calls that an earlier process of a program reported as running and that have no outcome. Ids may be
 * repeated by the next process.
 */
export function callsWithoutOutcome(records: readonly JournalRecord[]): OpenCall[] {
  const open = new Map<string, OpenCall>()
  for (const record of records) {
    if (record.kind === 'tool_started')
      open.set(record.call.id, { ...record.call, started: true, inherited: record.turn === 0 })
    else if (record.kind === 'tool_finished') open.delete(record.call_id)
  }
  return [...open.values()]
}

type MessageOf = (call: ToolCall, output: { status: string; error: string }) => ModelMessage

/**
 * Records outcomes for calls whose outcome is unknown. They are never repeated, and the agent is informed by
 * `messageOf` (specification.md#journal).
 */
export async function closeOpenCalls(
  writer: RunWriter,
  calls: OpenCall[],
  messageOf: MessageOf = toolMessage,
): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = []
  for (const { started, inherited, ...call } of calls) {
    const output = { status: 'interrupted', error: whyInterrupted({ started, inherited }) }
    const result = { status: 'interrupted' as const, output, duration_ms: 0, truncated: false, whole: null }
    const message = messageOf(call, output)
    await writer.append({
      // An inherited call has its entry in the trace of the run that started it.
      entries: inherited ? [] : toolEntries(composed(call), composed(result), null, null),
      records: [record('tool_finished', call.id, { call_id: call.id, message })],
    })
    messages.push(message)
  }
  return messages
}

function whyInterrupted({ started, inherited }: Pick<OpenCall, 'started' | 'inherited'>): string {
  if (started) return 'Interrupted: it may or may not have completed. Check before you repeat it.'
  return inherited ? `${NOT_RUN}the run was forked before.` : `${NOT_RUN}the turn was interrupted before.`
}

/** Adds a message about files that were restored to the conversation. */
export async function addRestoredMessage(
  writer: RunWriter,
  restored: RestoredWorkspace | null,
): Promise<ModelMessage[]> {
  if (restored === null) return []
  const { how, seq, up_to_date, lost_actions } = restored
  const files =
    how === 'fresh'
      ? 'none of its files could be restored: it is a fresh checkout'
      : up_to_date
        ? 'its files are as they were'
        : `its files are as they were after entry ${seq} of the trace, and later changes are lost`
  return addMessage(
    writer,
    `The workspace was recreated: ${files}.${lostText(lost_actions)} Files that git ignores, such as installed packages, and running processes are gone. Check before you rely on them.`,
    { lost_actions: lost_actions.map(({ seq }) => seq).toReversed() },
  )
}

function lostText(lost: ActionRef[]): string {
  if (lost.length === 0) return ''
  const list = lost.toReversed().map(({ seq, tool_name }) => `${tool_name} (entry ${seq})`)
  return ` The changes of these actions are missing, repeat what you need of them: ${list.join(', ')}.`
}

/** Adds a message about setup commands that failed to the conversation. */
export async function addSetupFailuresMessage(
  writer: RunWriter,
  failures: SetupFailure[],
): Promise<ModelMessage[]> {
  if (failures.length === 0) return []
  const list = failures.map(({ command, why }) => `- \`${command}\` ${why}`).join('\n')
  const content = `Some of the commands that prepare this workspace failed, so what they install may be missing:\n${list}`
  return addMessage(writer, await writer.redactor.text(content))
}

async function addMessage(
  writer: RunWriter,
  content: string,
  facts: { lost_actions?: number[] } = {},
): Promise<ModelMessage[]> {
  const message: ModelMessage = { role: 'user', content }
  await writer.append({ records: [record('message', null, { messages: [message], ...facts })] })
  return [message]
}
