import type { ResumeRunInput } from '../../contract/runs/run-inputs.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { narrowed } from '../../core/access/repository-bounds.ts'
import { budgetOf, spentBy, usedLimits } from '../../core/runs/budget/limits.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { holdRepository } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import { CONTROL } from '../../store/notify.ts'
import { changeRun, type Report, reportRun } from '../../store/runs/change-run.ts'
import { setRepositoryBounds } from '../../store/runs/child-runs.ts'
import { requestResume } from '../../store/runs/follow-ups.ts'
import type { MessageMode } from '../../store/runs/messages.ts'
import { withdrawPause } from '../../store/runs/pauses.ts'
import { recordTraceparent, updateRun } from '../../store/runs/run-changes.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { userMessage } from '../../trace/entry.ts'
import { requireQuota } from '../access/quota.ts'
import type { Context } from '../context.ts'
import { requestedModel } from '../organizations/models.ts'
import { withoutSecrets } from '../secrets/known-secrets.ts'
import { storedTargets } from '../webhooks/webhook-targets.ts'
import { approveWaiting } from './approve-waiting.ts'
import { requireCallable, requireValidPlaybook } from './create-run.ts'
import { byCaller, type MessageSource } from './message-source.ts'
import { getRun, requireConversation, requireLockedRun } from './runs.ts'

/**
 * Delivers a follow-up in every status, except to a banned run (409): an ended run gets a new turn in the
 * same workspace, a run that is being stopped gets it when it is cancelled, a paused run continues, a waiting
 * one gets an answer, a running one gets it according to `mode`. The message is durable before the response
 * (specification.md#create-and-resume).
 */
export async function resumeRun(
  ctx: Context,
  input: ResumeRunInput,
  source: MessageSource = byCaller(ctx),
): Promise<AgentRun> {
  const model =
    input.model == null
      ? undefined
      : requestedModel(await ctx.organizationModels(ctx.db, ctx.organization_id), ctx, input.model)
  const webhooks = storedTargets(ctx, input.webhooks)
  return ctx.db.transaction(async tx => {
    const run = await requireLockedRun(tx, ctx.organization_id, input.agent_run_id)
    requireConversation(run)
    if (model) requireCallable(ctx, run, model)
    if (run.banned)
      throw new ServiceError('invalid_transition', 'The run is banned; lift the ban to resume it.')
    if (input.approve) {
      const text = await withoutSecrets(tx, ctx, run.repository_id, input.prompt)
      await approveWaiting(tx, ctx, run, text, input.expected_head_sha ?? null)
      return getRun(ctx, run.id, tx)
    }
    await requireResumable(tx, ctx, run, input, model?.id ?? run.model)
    const { reasoning_effort, review } = input
    if (
      model ||
      reasoning_effort !== undefined ||
      review !== undefined ||
      input.budget ||
      webhooks !== null ||
      run.archived
    )
      await updateRun(tx, ctx.organization_id, run.id, {
        model: model?.id,
        reasoning_effort,
        review,
        budget: input.budget ?? undefined,
        webhooks: webhooks ?? undefined,
        // A run that continues must be in the list.
        archived: false,
      })
    if (ctx.actor.repository_ids !== null)
      await setRepositoryBounds(
        tx,
        ctx.organization_id,
        run.id,
        narrowed(run.repository_ids, ctx.actor.repository_ids),
      )
    await prepare(tx, ctx, run)
    await deliver(tx, ctx, run, { input, source, unknown_model: model === null ? (input.model ?? '') : null })
    return getRun(ctx, run.id, tx)
  })
}

async function requireResumable(
  tx: Db,
  ctx: Context,
  run: RunRow,
  { prompt, budget }: ResumeRunInput,
  model: string,
): Promise<void> {
  const models = await ctx.organizationModels(tx, ctx.organization_id)
  if (models.get(model)?.scripted) requireValidPlaybook(prompt)
  const finished = isTerminal(run.status)
  if (!isActive(run)) await requireQuota(tx, run, finished || run.status === 'cancelling' ? 0 : null)
  if (finished) await requireRepositoryOf(tx, run)
  if (run.status === 'paused') requireTopUp(run, budget ?? {})
}

/**
 * `unknown_model`: the requested public model name that this service does not have; the run keeps its model.
 */
type FollowUp = { input: ResumeRunInput; source: MessageSource; unknown_model: string | null }

/**
 * Records what the request changes, in addition to the message: on a run that is stopping, and on one that is
 * about to pause.
 */
async function prepare(tx: Db, ctx: Context, run: RunRow): Promise<void> {
  const { organization_id, traceparent } = ctx
  const stopping = run.status === 'cancelling'
  if (stopping) await requestResume(tx, organization_id, run.id, true)
  if (traceparent !== null && (stopping || run.status === 'paused' || isTerminal(run.status)))
    await recordTraceparent(tx, organization_id, run.id, traceparent)
  // A message to a run that is about to pause withdraws the pause.
  if (run.pause_requested_at !== null) await withdrawPause(tx, organization_id, run.id)
}

/**
 * Queues the message for the worker, in a new turn if the run has ended, and lets a run that is paused or
 * waits continue with it.
 */
async function deliver(
  tx: Db,
  ctx: Context,
  run: RunRow,
  { input, source, unknown_model }: FollowUp,
): Promise<void> {
  const text = await withoutSecrets(tx, ctx, run.repository_id, input.prompt)
  const instead_of =
    unknown_model === null ? null : await withoutSecrets(tx, ctx, run.repository_id, unknown_model)
  const finished = isTerminal(run.status)
  const mode = deliveryOf(run, input.mode ?? 'steer')
  const { user_id } = ctx.actor
  const shown = {
    text,
    user_id,
    source_type: source.source_type,
    mode,
    images: input.images?.length ?? 0,
    ...(instead_of !== null && { model: { id: run.model, instead_of } }),
  }
  const turn = finished || run.status === 'cancelling' || mode === 'enqueue' ? run.turn + 1 : run.turn
  const move = continued(run, ctx.queue_seconds)
  const report: Report = {
    entries: [source.comment ?? userMessage(shown)],
    message: { turn, mode, text, images: input.images ?? null, user_id },
    event: { type: finished || run.status === 'paused' ? 'agent_run.status' : 'agent_run.updated' },
    live: mode === 'interrupt' ? CONTROL : undefined,
  }
  await (move === null ? reportRun(tx, run, report) : changeRun(tx, run, { ...move, ...report }))
}

/** Returns how the message moves the run; null: not. */
function continued({ status }: RunRow, deadline_seconds: number) {
  const from = [status]
  if (isTerminal(status)) return { from, to: 'queued', because: 'new_turn', deadline_seconds } as const
  if (status === 'paused') return { from, to: 'queued', because: 'continued', deadline_seconds } as const
  if (status === 'waiting') return { from, to: 'waiting', because: 'answered', deadline_seconds } as const
  return null
}

/** Throws 409 when the repository was removed, which is possible only after all of its runs have ended. */
async function requireRepositoryOf(tx: Db, run: RunRow): Promise<void> {
  if (run.repository_id !== null && !(await holdRepository(tx, run.organization_id, run.repository_id)))
    throw new ServiceError(
      'conflict',
      'The repository of this run was removed: create a new run in another one.',
    )
}

/** A message to an active run needs no quota. */
const isActive = ({ status }: RunRow) => status === 'queued' || status === 'starting' || status === 'running'

/**
 * Throws 400 that names a budget limit that is used up, because it would pause the run again at once.
 * `max_wall_seconds` is per turn and restarts.
 */
function requireTopUp(run: RunRow, budget: NonNullable<ResumeRunInput['budget']>): void {
  const new_budget = { ...budgetOf(run), ...budget }
  const limits = usedLimits(new_budget, spentBy(run, { children_usd: 0, now_ms: Date.now() }))
  const used_up = limits.find(({ scope, allowed, used }) => scope === 'run' && allowed <= used)
  if (!used_up) return
  const { name, used } = used_up
  throw budget[name] === undefined
    ? invalid(
        ['body', 'budget'],
        `is required: the run used ${used} of its ${name} ${new_budget[name]}; give a larger ${name}, the new total and not what is added`,
      )
    : invalid(
        ['body', 'budget', name],
        `must be more than the ${used} that the run has used: it is the new total, not what is added`,
      )
}

/**
 * Returns the mode of a message to a run in this status: the first of a turn, an answer, or one of the three
 * modes for a running run. A run that is being stopped gets it for its next turn.
 */
function deliveryOf(run: RunRow, requested: 'steer' | 'enqueue' | 'interrupt'): MessageMode {
  if (isTerminal(run.status)) return 'prompt'
  if (run.status === 'cancelling') return 'enqueue'
  if (run.status === 'waiting') return 'answer'
  if (run.status === 'paused') return 'steer'
  return requested
}
