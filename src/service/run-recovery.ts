import type { RecoveryQuery, RunRecovery } from '../contract/recovery.ts'
import { pageNumbers, pageWindow } from '../core/paging.ts'
import { countStates, type StepRecord, stepsOf } from '../core/recovery.ts'
import { type JournalRow, listSteps } from '../store/journal.ts'
import type { Context } from './context.ts'
import { requireRun } from './runs.ts'

/** What became of every step of a run, as its journal tells it (decisions §1). 404 when it is not in this organization. */
export async function getRunRecovery(ctx: Context, run_id: number, query: RecoveryQuery): Promise<RunRecovery> {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  const rows = await listSteps(ctx.db, ctx.organization_id, run_id)
  const at_work = ['queued', 'starting', 'running', 'cancelling'].includes(run.status)
  const steps = stepsOf(rows.map(stepRecord), at_work)
  const window = pageWindow(query)
  return {
    agent_run_id: run_id,
    recoveries: rows.filter(row => row.kind === 'recovered').map(recoveryOf),
    counts: countStates(steps),
    steps: { items: steps.slice(window.skip, window.skip + window.limit), total: steps.length, ...pageNumbers(steps.length, window) },
  }
}

function recoveryOf({ turn, epoch, seq, created_at, body }: JournalRow): RunRecovery['recoveries'][number] {
  const { cause, since, model_call_reissued, interrupted } = JSON.parse(body) as {
    cause: 'lease_lost' | 'handed_over'
    since: string
    model_call_reissued: boolean
    interrupted: { call_id: string; tool_name: string }[]
  }
  const recovered_at = created_at.toISOString()
  return { turn, cause, lost_at: since, recovered_at, after_seq: seq, epoch, model_call_reissued, interrupted }
}

function stepRecord({ turn, epoch, seq, kind, key, body, created_at }: JournalRow): StepRecord {
  const place = { turn, epoch, seq, at: created_at.toISOString() }
  if (kind === 'model_started') return { ...place, kind }
  if (kind === 'model_failed') return { ...place, kind, code: (JSON.parse(body) as { code: string }).code }
  if (kind === 'model_answered')
    return { ...place, kind, calls: (JSON.parse(body) as { tool_calls: { id: string; name: string }[] }).tool_calls }
  if (kind === 'tool_started') return { ...place, kind, call_id: key ?? '' }
  if (kind === 'tool_finished') return { ...place, kind, call_id: key ?? '', status: statusOf(body) }
  return { ...place, kind: 'other' }
}

/** How the tool ended, as the model was told. */
function statusOf(body: string): string {
  type Finished = { message: { content: { output?: { value?: { status?: string } } }[] } }
  return (JSON.parse(body) as Finished).message.content[0]?.output?.value?.status ?? 'ok'
}
