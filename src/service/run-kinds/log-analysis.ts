import { actionTool } from '../../contract/runs/action-tools.ts'
import type { AnalyzeLogsInput, AnalyzeManyLogsInput, LogAnalysis } from '../../contract/runs/log-analysis.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { getRepository, type RepositoryRow } from '../../store/access/repositories.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { listRunsToAnalyze } from '../../store/runs/log-analysis.ts'
import { entry } from '../../trace/entry.ts'
import type { Context } from '../context.ts'
import { requireRepository } from '../repositories/repositories.ts'
import { requireSandbox } from '../repositories/sandboxes.ts'
import { acceptRun } from '../runs/create-run.ts'
import type { MessageSource } from '../runs/message-source.ts'
import { requireRun } from '../runs/runs.ts'
import { type FirstPass, firstPass, type Part } from './read-for-analysis.ts'

const by_analysis: MessageSource = { source_type: 'LOG_ANALYSIS', comment: null, relation: 'analysis' }
const DAY_MS = 86_400_000
const MAX_DAYS = 31
const MAX_RUNS = 200

/**
 * The subject of an analysis. `about`: the one run that it concerns, whose trace links to the analysis; null:
 * several.
 */
type Subject = {
  title: string
  about: number | null
  repository_id: number | null
  tool_input: Record<string, unknown>
  pass: FirstPass
}

/**
 * Analyzes the logs of one sandbox (specification.md#setup-and-analysis). Throws 404 when it does not exist,
 * 400 when nothing was executed in it.
 */
export async function analyzeSandboxLogs(
  ctx: Context,
  sandbox_id: number,
  input: AnalyzeLogsInput,
): Promise<LogAnalysis> {
  const sandbox = await requireSandbox(ctx, sandbox_id)
  const run = await requireRun(ctx.db, ctx.organization_id, sandbox.run_id)
  const { first_seq, kind } = sandbox
  const pass = await firstPass(
    ctx,
    [{ run, first_seq, last_seq: sandbox.last_seq ?? run.total_logs, kind }],
    [],
  )
  if (pass === null) throw noLogs(['path', 'sandbox_id'], 'nothing was executed in this sandbox')
  const title = `Log analysis of sandbox ${sandbox_id} of run ${run.id}`
  return accept(ctx, input?.prompt ?? null, {
    title,
    about: run.id,
    repository_id: run.repository_id,
    tool_input: { sandbox_id, agent_run_id: run.id },
    pass,
  })
}

/**
 * Analyzes the logs of all sandboxes of a run. Throws 404 when it does not exist, 400 when nothing was
 * executed in it.
 */
export async function analyzeRunLogs(
  ctx: Context,
  run_id: number,
  input: AnalyzeLogsInput,
): Promise<LogAnalysis> {
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  const pass = await firstPass(ctx, [{ run, first_seq: 1, last_seq: run.total_logs, kind: null }], [])
  if (pass === null) throw noLogs(['path', 'agent_run_id'], 'nothing was executed in this run')
  const title = `Log analysis of run ${run.id}`
  return accept(ctx, input?.prompt ?? null, {
    title,
    about: run.id,
    repository_id: run.repository_id,
    tool_input: { agent_run_id: run.id },
    pass,
  })
}

/**
 * Analyzes the logs of the runs of an organization, or of one of its repositories, that were active in a
 * period.
 */
export async function analyzeLogs(ctx: Context, input: AnalyzeManyLogsInput): Promise<LogAnalysis> {
  const { from, to } = windowOf(input)
  const repo_id = input?.repo_id ?? null
  if (repo_id !== null) await requireRepository(ctx.db, ctx.organization_id, repo_id)
  const { repository_ids } = ctx.actor
  if (repository_ids !== null && repo_id === null)
    throw new ServiceError('forbidden', 'This token is bound to repositories: name one of them by repo_id.')
  const window = { repository_id: repo_id, from, to, repository_ids }
  const { rows, total } = await listRunsToAnalyze(ctx.db, ctx.organization_id, window, MAX_RUNS)
  const left_out = total > rows.length ? [`${total - rows.length} older runs, because of their number`] : []
  const parts: Part[] = rows.map(run => ({ run, first_seq: 1, last_seq: run.total_logs, kind: null }))
  const pass = await firstPass(ctx, parts, left_out)
  if (pass === null) throw noLogs(['body', 'from'], 'no run of this time has any')
  const title = repo_id === null ? 'Log analysis of all runs' : `Log analysis of repository ${repo_id}`
  return accept(ctx, input?.prompt ?? null, {
    title,
    about: null,
    repository_id: repo_id,
    tool_input: { repo_id, from, to },
    pass,
  })
}

/**
 * A separate code: wire profile `codegen` responds to other invalid requests with 422, and to this one with
 * 400, as the public API documents.
 */
const noLogs = (loc: [string, string], what: string) =>
  new ServiceError('no_logs', `No logs available for analysis: ${what}.`, {
    errors: [{ loc, msg: what, type: 'no_logs' }],
  })

function windowOf(input: AnalyzeManyLogsInput): { from: string; to: string } {
  const to = input?.to == null ? Date.now() : Date.parse(input.to)
  const from = input?.from == null ? to - DAY_MS : Date.parse(input.from)
  if (from >= to)
    throw invalid(['body', 'from'], 'must be earlier than `to`, which is now where it is not given')
  if (to - from > MAX_DAYS * DAY_MS)
    throw invalid(['body', 'from'], `must not be more than ${MAX_DAYS} days before \`to\``)
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
}

/**
 * Creates the run with the findings as its first entry: its worker lets a model explain them and computes
 * nothing again.
 */
async function accept(ctx: Context, prompt: string | null, subject: Subject): Promise<LogAnalysis> {
  const { title, about, tool_input, pass } = subject
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  // It also works without a model, so an unavailable default model does not prevent it.
  const preferred = organization?.default_model ?? null
  const models = await ctx.organizationModels(ctx.db, ctx.organization_id)
  const model = (preferred === null ? null : models.get(preferred)) ?? models.get(models.default_model)
  if (model === null) throw new ServiceError('unavailable', 'No model is configured.')
  const plan = {
    agent: { agent_type: 'built_in' },
    model,
    reasoning_effort: null,
    review: null,
    repository: await openRepository(ctx, subject.repository_id),
    base: { state: 'known' as const, ref: null, sha: null },
    branch_prefix: null,
    webhooks: null,
    auto_create_pr: false,
  }
  const { message, findings, looked_at } = pass
  const found = {
    message_type: 'ACTION',
    tool_name: actionTool.log_analysis,
    tool_input,
    tool_output: { status: 'ok', message, findings, looked_at },
  } as const
  return ctx.db.transaction(async tx => {
    const run = await acceptRun(
      tx,
      ctx,
      { prompt: prompt ?? `${title}.`, title, parent_run_id: about },
      plan,
      by_analysis,
    )
    await reportRun(
      tx,
      { organization_id: ctx.organization_id, id: run.id },
      { entries: [entry(found)], notify: false },
    )
    return { agent_run_id: run.id, status: run.status, message, findings, looked_at, url: run.web_url }
  })
}

/** A removed repository accepts no runs, but its earlier runs can still be analyzed. */
async function openRepository(ctx: Context, repository_id: number | null): Promise<RepositoryRow | null> {
  return repository_id === null
    ? null
    : ((await getRepository(ctx.db, ctx.organization_id, repository_id)) ?? null)
}
