import { actionTool } from '../../contract/runs/action-tools.ts'
import type { RecoveryQuery, RunRecovery } from '../../contract/runs/recovery.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { pageNumbers, pageWindow, partOf } from '../../core/paging.ts'
import { countStates, type StepRecord, stepsOf } from '../../core/runs/recovery-report.ts'
import { type JournalRow, listSteps } from '../../store/runs/journal.ts'
import { type EntryRow, findEntries } from '../../store/runs/log-entries.ts'
import type { Context } from '../context.ts'
import { newestFiles } from './kept-files.ts'
import { requireRun } from './runs.ts'

type Recovery = RunRecovery['recoveries'][number]
const ALL = { skip: 0, limit: 1_000, reverse: false }

/**
 * Returns the recovery report of a run: the outcome of every step, from its journal
 * (specification.md#journal). 404 when it is not in this organization.
 */
export async function getRunRecovery(
  ctx: Context,
  run_id: number,
  query: RecoveryQuery,
): Promise<RunRecovery> {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  const rows = await listSteps(ctx.db, ctx.organization_id, run_id)
  const active = ['queued', 'starting', 'running', 'cancelling'].includes(run.status)
  const steps = stepsOf(rows.map(stepRecord), active)
  const window = pageWindow(query)
  const restored = (
    await findEntries(
      ctx.db,
      ctx.organization_id,
      run_id,
      { tool_name: [actionTool.workspace_restored] },
      ALL,
    )
  ).rows
  return {
    agent_run_id: run_id,
    newest_kept_seq: (await newestFiles(ctx.db, run)) ?? null,
    recoveries: rows
      .filter(row => row.kind === 'recovered')
      .map((row, i, all) => recoveryOf(row, restored, all[i + 1]?.seq)),
    counts: countStates(steps),
    steps: { items: partOf(steps, window), total: steps.length, ...pageNumbers(steps.length, window) },
  }
}

/**
 * `restored`: all entries about restored workspaces. `until`: the position at which the next owner continued.
 */
function recoveryOf(
  { turn, epoch, seq, created_at, body }: JournalRow,
  restored: EntryRow[],
  until = Number.POSITIVE_INFINITY,
): Recovery {
  const { cause, since, model_call_reissued, interrupted } = storedJson<{
    cause: 'lease_lost' | 'handed_over'
    since: string
    model_call_reissued: boolean
    interrupted: { call_id: string; tool_name: string }[]
  }>(body)
  const recovered_at = created_at.toISOString()
  const entry = restored.findLast(row => row.seq > seq && row.seq <= until)
  const workspace = entry === undefined ? null : workspaceOf(entry)
  return {
    turn,
    cause,
    lost_at: since,
    recovered_at,
    after_seq: seq,
    epoch,
    model_call_reissued,
    interrupted,
    workspace,
  }
}

function workspaceOf({ body }: EntryRow): Recovery['workspace'] {
  const { tool_output } = storedJson<{ tool_output: NonNullable<Recovery['workspace']> }>(body)
  const { how, seq, commit, tree, matches, up_to_date } = tool_output
  return { how, seq, commit, tree, matches, up_to_date }
}

function stepRecord({ turn, epoch, seq, kind, key, body, created_at }: JournalRow): StepRecord {
  const position = { turn, epoch, seq, at: created_at.toISOString() }
  if (kind === 'compacted') return { ...position, kind }
  if (kind === 'model_started') return { ...position, kind, key }
  if (kind === 'model_failed')
    return { ...position, kind, key, code: storedJson<{ code: string }>(body).code }
  if (kind === 'model_answered')
    return {
      ...position,
      kind,
      key,
      calls: storedJson<{ tool_calls: { id: string; name: string }[] }>(body).tool_calls,
    }
  if (kind === 'tool_started') return { ...position, kind, call_id: key ?? '' }
  if (kind === 'tool_finished') return { ...position, kind, call_id: key ?? '', status: statusOf(body) }
  return { ...position, kind: 'other' }
}

/** Returns the status of the tool call that was reported to the model. */
function statusOf(body: string): string {
  type FinishedCall = { message: { content: { output?: { value?: { status?: string } } }[] } }
  return storedJson<FinishedCall>(body).message.content[0]?.output?.value?.status ?? 'ok'
}
