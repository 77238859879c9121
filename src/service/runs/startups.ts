import type { RunStartup } from '../../contract/runs/startups.ts'
import { getStartup, startupMetrics } from '../../store/runs/run-startups.ts'
import type { Context } from '../context.ts'
import { requireRepository } from '../repositories/repositories.ts'
import { requireRun } from './runs.ts'

const DAYS = 7
const none = {
  queue_ms: null,
  claim_ms: null,
  mirror_ms: null,
  clone_ms: null,
  setup_ms: null,
  sandbox_ms: null,
  first_model_byte_ms: null,
  first_action_ms: null,
}

/**
 * Returns the duration of each part of a run's start, nulls until its agent has acted or its first turn has
 * ended. Throws 404 when it is not in this organization.
 */
export async function getRunStartup(ctx: Context, run_id: number): Promise<RunStartup> {
  await requireRun(ctx.db, ctx.organization_id, run_id)
  const row = await getStartup(ctx.db, ctx.organization_id, run_id)
  if (row === undefined) return { agent_run_id: run_id, ...none, environment: null, spans: [] }
  const { started_at, ...parts } = row
  return { agent_run_id: run_id, ...parts }
}

/**
 * Returns median and 95th percentile of the parts of starts of a repository's runs. Throws 404 when it is not
 * in this organization.
 */
export async function getRepositoryStartups(
  ctx: Context,
  repo_id: number,
  query: { since?: string | undefined },
) {
  await requireRepository(ctx.db, ctx.organization_id, repo_id)
  return startupsSince(
    ctx,
    repo_id,
    query.since === undefined ? new Date(Date.now() - DAYS * 86_400_000) : new Date(query.since),
  )
}

async function startupsSince(ctx: Context, repo_id: number, since: Date) {
  return {
    ...(await startupMetrics(ctx.db, ctx.organization_id, repo_id, since)),
    since: since.toISOString(),
  }
}
