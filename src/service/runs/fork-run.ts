import type { ForkRunInput } from '../../contract/runs/run-inputs.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { narrowed } from '../../core/access/repository-bounds.ts'
import { budgetOf } from '../../core/runs/budget/limits.ts'
import { titleOf } from '../../core/runs/title.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { getRepository, holdRepository } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { copyConversation } from '../../store/runs/forks.ts'
import { recordTraceparent } from '../../store/runs/run-changes.ts'
import { insertRun, type RunRow } from '../../store/runs/runs.ts'
import { copyCheckpoint } from '../../store/workspaces/checkpoint-packs.ts'
import { runLink, userMessage } from '../../trace/entry.ts'
import { requireQuota } from '../access/quota.ts'
import type { Context } from '../context.ts'
import { withoutSecrets } from '../secrets/known-secrets.ts'
import { requireValidPlaybook } from './create-run.ts'
import { requireFilesAt } from './kept-files.ts'
import { linkWhileActive } from './related-runs.ts'
import { getRun, requireConversation, requireLockedRun } from './runs.ts'

const DEFAULT_PROMPT = 'Continue.'

/**
 * Creates a run with the conversation of another one up to entry `from_seq`, and its files as they were after
 * that entry (specification.md#create-and-resume). It copies all that it needs, so the other run may be
 * deleted. Throws 400 for an entry that does not exist, 404 for a run that is not in this organization, 409
 * when the run is banned, its repository accepts no runs, its model was removed, or the files were not kept.
 */
export async function forkRun(ctx: Context, input: ForkRunInput): Promise<AgentRun> {
  return ctx.db.transaction(async tx => {
    const parent = await requireLockedRun(tx, ctx.organization_id, input.agent_run_id, 'key share')
    requireConversation(parent)
    if (input.from_seq > parent.total_logs)
      throw invalid(
        ['body', 'from_seq'],
        `must not be more than ${parent.total_logs}, the last entry of the run`,
      )
    if (parent.banned)
      throw new ServiceError('invalid_transition', 'The run is banned; lift the ban to fork it.')
    const prompt = await withoutSecrets(tx, ctx, parent.repository_id, input.prompt ?? DEFAULT_PROMPT)
    const model = (await ctx.organizationModels(tx, ctx.organization_id)).get(parent.model)
    if (model === null)
      throw new ServiceError('conflict', `The model ${parent.model} of the run is no longer configured.`)
    if (model.scripted) requireValidPlaybook(prompt)
    await requireOpenRepository(tx, parent)
    const files = await requireFilesAt(tx, parent, input.from_seq, true)

    const { id } = await insertRun(tx, {
      ...inherited(parent),
      user_id: ctx.actor.user_id,
      source_type: 'FORK',
      prompt,
      title: input.prompt == null ? parent.title : titleOf(prompt),
      base_sha: files?.base_sha ?? parent.base_sha,
      parent_run_id: parent.id,
      repository_ids: narrowed(parent.repository_ids, ctx.actor.repository_ids),
      forked_at_seq: input.from_seq,
      deadline_seconds: ctx.queue_seconds,
    })
    if (ctx.traceparent !== null) await recordTraceparent(tx, ctx.organization_id, id, ctx.traceparent)
    if (
      files !== null &&
      !(await copyCheckpoint(tx, ctx.organization_id, { run_id: parent.id, seq: files.seq }, id))
    )
      throw new ServiceError(
        'conflict',
        `The files of the run after entry ${input.from_seq} are no longer kept.`,
      )
    await copyConversation(tx, ctx.organization_id, { run_id: parent.id, seq: input.from_seq }, id)
    const message = {
      text: prompt,
      user_id: ctx.actor.user_id,
      source_type: 'FORK' as const,
      mode: 'prompt',
      images: 0,
    }
    const from = { id: parent.id, web_url: traceUrl(ctx.base_url, parent.id) }
    const { from_seq } = input
    const { organization_id } = ctx
    await reportRun(
      tx,
      { organization_id, id },
      {
        entries: [userMessage(message), runLink(from, 'parent', { from_seq })],
        message: { turn: 1, mode: 'prompt', text: prompt, images: null, user_id: ctx.actor.user_id },
        notify: false,
      },
    )
    const run = await getRun(ctx, id, tx)
    await reportFork(tx, ctx, parent.id, { run, from_seq })
    return run
  })
}

/** Last: from here on, the forked run cannot write, and other creates of the organization wait. */
async function reportFork(
  tx: Db,
  ctx: Context,
  parent_id: number,
  { run, from_seq }: { run: AgentRun; from_seq: number },
): Promise<void> {
  const event = { type: 'agent_run.updated', body: { forked_to: run.id } } as const
  await linkWhileActive(tx, ctx, parent_id, { to: run, relation: 'fork', from_seq }, event)
  const { organization_id } = ctx
  await reportRun(
    tx,
    { organization_id, id: run.id },
    { event: { type: 'agent_run.created', body: { status: 'queued' } }, wakes_workers: true },
  )
  await requireQuota(tx, run, 1)
}

const inherited = (run: RunRow) => ({
  organization_id: run.organization_id,
  repository_id: run.repository_id,
  agent_type: run.agent_type,
  model: run.model,
  tags: run.tags,
  base_ref: run.base_ref,
  auto_create_pr: run.auto_create_pr,
  metadata: null,
  webhooks: null,
  reasoning_effort: run.reasoning_effort,
  review: run.review,
  from_default_branch: run.from_default_branch,
  branch_prefix: run.branch_prefix,
  tools_off: run.tools_off,
  budget: budgetOf(run),
})

async function requireOpenRepository(tx: Db, { organization_id, repository_id }: RunRow): Promise<void> {
  if (repository_id === null) return
  if (!(await holdRepository(tx, organization_id, repository_id)))
    throw new ServiceError(
      'conflict',
      'The repository of this run was removed: create a new run in another one.',
    )
  const repository = await getRepository(tx, organization_id, repository_id)
  if (repository?.archived)
    throw new ServiceError('conflict', `${repository.full_name} is archived: it accepts no new runs.`)
}
