import { checkSettings, retriesOf } from '../../core/pull-requests/check-settings.ts'
import { checksVerdict, isFixable } from '../../core/pull-requests/checks-verdict.ts'
import { ServiceError } from '../../core/service-error.ts'
import type { Db } from '../../store/database.ts'
import { getCheckSuiteSettings } from '../../store/pull-requests/check-suite-settings.ts'
import { findRunsAt } from '../../store/pull-requests/check-waits.ts'
import { listChecks } from '../../store/pull-requests/checks.ts'
import { changeRun } from '../../store/runs/change-run.ts'
import { findLatestEvaluation } from '../../store/runs/journal.ts'
import { lockRun, type RunRow } from '../../store/runs/runs.ts'
import { userMessage } from '../../trace/entry.ts'
import { requireQuota } from '../access/quota.ts'
import type { Context } from '../context.ts'

const MAX_NAMES = 20

/**
 * Starts a new turn of each ended run whose open pull request has failed checks for the pushed commit
 * (specification.md#run-status): the worker that claims the run reports them to the agent. Skips a run that
 * has already worked on the checks of this commit to its end.
 */
export async function resumeForChecks(
  ctx: Pick<Context, 'db' | 'organization_id' | 'queue_seconds'>,
  repo_id: number,
  sha: string,
) {
  const { db, organization_id } = ctx
  const settings = checkSettings(await getCheckSuiteSettings(db, organization_id, repo_id))
  const { settled, failing } = checksVerdict(
    await listChecks(db, organization_id, [{ repository_id: repo_id, head_sha: sha }]),
    settings.high_priority_apps,
  )
  const names = failing
    .filter(check => isFixable(check) && retriesOf(settings, check.name) > 0)
    .map(check => check.name)
  if (!settled || names.length === 0) return
  for (const id of await findRunsAt(db, organization_id, repo_id, sha)) {
    const evaluation = await findLatestEvaluation(db, organization_id, id)
    const over =
      evaluation?.head_sha === sha && evaluation.because !== null && evaluation.because !== 'time_over'
    if (!over) await db.transaction(tx => beginTurn(tx, ctx, id, names.slice(0, MAX_NAMES)))
  }
}

async function beginTurn(
  tx: Db,
  { organization_id, queue_seconds }: Pick<Context, 'organization_id' | 'queue_seconds'>,
  id: number,
  names: string[],
) {
  const run = await lockRun(tx, organization_id, id)
  if (run?.status !== 'completed' || run.banned || !(await hasQuota(tx, run))) return
  const text = `Checks of the pushed commit failed after the run had ended: ${names.join(', ')}.`
  const message = userMessage({
    text,
    user_id: null,
    source_type: 'GITHUB_CHECK_SUITE',
    mode: 'prompt',
    images: 0,
  })
  await changeRun(tx, run, {
    from: ['completed'],
    to: 'queued',
    because: 'new_turn',
    deadline_seconds: queue_seconds,
    entries: [message],
  })
}

async function hasQuota(tx: Db, run: RunRow): Promise<boolean> {
  try {
    await requireQuota(tx, run, 0)
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}
