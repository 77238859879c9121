import type { ResumeRunInput } from '../../contract/runs/run-inputs.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { narrowed } from '../../core/access/repository-bounds.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { holdRepository } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import { notifyOwner, notifyRun, notifyWork } from '../../store/notify.ts'
import { append } from '../../store/runs/append.ts'
import { setRepositoryBounds } from '../../store/runs/child-runs.ts'
import { insertEvent } from '../../store/runs/events.ts'
import { insertMessage, type MessageMode } from '../../store/runs/messages.ts'
import { withdrawPause } from '../../store/runs/pauses.ts'
import { requestResume, requeueRun, wakeRun } from '../../store/runs/run-moves.ts'
import { type RunRow, updateRun } from '../../store/runs/runs.ts'
import { recordTraceparent } from '../../store/runs/traceparents.ts'
import { userMessage } from '../../trace/entry.ts'
import { requireQuota } from '../access/quota.ts'
import type { Context } from '../context.ts'
import { requestedModel } from '../organizations/models.ts'
import { withoutSecrets } from '../secrets/known-secrets.ts'
import { storedTargets } from '../webhooks/webhook-targets.ts'
import { approvePush } from './approve-push.ts'
import { requireValidPlaybook } from './create-run.ts'
import { by_api, type MessageSource } from './message-source.ts'
import { getRun, requireConversation, requireLockedRun } from './runs.ts'

/**
 * A follow-up, in every state, but not to a banned run (409): a finished run gets a new turn on the same workspace, one that is being stopped
 * gets it when it is cancelled, a paused one goes on, a waiting one is answered, a working one hears it as `mode` says. The message is durable before the answer (specification.md#create-and-resume).
 */
export async function resumeRun(ctx: Context, input: ResumeRunInput, source: MessageSource = by_api): Promise<AgentRun> {
  const model = input.model == null ? undefined : requestedModel(ctx, input.model)
  const webhooks = storedTargets(ctx, input.webhooks)
  return ctx.db.transaction(async tx => {
    const run = await requireLockedRun(tx, ctx.organization_id, input.agent_run_id)
    requireConversation(run)
    if (run.banned) throw new ServiceError('invalid_transition', 'The run is banned; lift the ban to resume it.')
    if (input.approve) {
      const text = await withoutSecrets(tx, ctx, run.repository_id, input.prompt)
      await approvePush(tx, ctx, run, text, input.expected_head_sha ?? null)
      return getRun(ctx, run.id, tx)
    }
    if (ctx.models.get(model?.id ?? run.model)?.scripted) requireValidPlaybook(input.prompt)
    const finished = isTerminal(run.status)
    const stopping = run.status === 'cancelling'
    if (!isAtWork(run)) await requireQuota(tx, ctx.organization_id, finished || stopping ? 0 : null)
    if (finished) await requireRepositoryOf(tx, run)
    if (run.status === 'paused') requireTopUp(run, input.budget ?? {})
    if (model || input.budget || webhooks !== null || run.archived)
      await updateRun(tx, ctx.organization_id, run.id, {
        model: model?.id,
        budget: input.budget ?? undefined,
        webhooks: webhooks ?? undefined,
        // A run that works is in the list.
        archived: false,
      })

    if (ctx.actor.repository_ids !== null)
      await setRepositoryBounds(tx, ctx.organization_id, run.id, narrowed(run.repository_ids, ctx.actor.repository_ids))
    const prompt = await withoutSecrets(tx, ctx, run.repository_id, input.prompt)
    // A public model name that this service does not have: the run goes on with the model that it has.
    const instead_of = model === null ? await withoutSecrets(tx, ctx, run.repository_id, input.model ?? '') : null
    const mode = deliveryOf(run, input.mode ?? 'steer')
    const message = {
      ...{ text: prompt, user_id: ctx.actor.user_id, source_type: source.source_type, mode, images: input.images?.length ?? 0 },
      ...(instead_of !== null && { model: { id: run.model, instead_of } }),
    }
    const turn = finished || stopping || mode === 'enqueue' ? run.turn + 1 : run.turn
    if (finished)
      await requeueRun(tx, ctx.organization_id, run.id, { from: [run.status], new_turn: true, deadline_seconds: ctx.queue_seconds })
    const appended = await append(tx, ctx.organization_id, run.id, null, { entries: [source.comment ?? userMessage(message)] })
    if (!appended) throw new ServiceError('conflict', 'The run changed at the same moment; try again.')
    await insertMessage(tx, {
      organization_id: ctx.organization_id,
      run_id: run.id,
      seq: appended.total_logs,
      turn,
      mode,
      text: prompt,
      images: input.images ?? null,
      user_id: ctx.actor.user_id,
    })
    if (stopping) await requestResume(tx, ctx.organization_id, run.id, true)
    if (run.status === 'paused')
      await requeueRun(tx, ctx.organization_id, run.id, { from: ['paused'], new_turn: false, deadline_seconds: ctx.queue_seconds })
    if (ctx.traceparent !== null && (finished || stopping || run.status === 'paused'))
      await recordTraceparent(tx, ctx.organization_id, run.id, ctx.traceparent)
    if (run.status === 'waiting') await wakeRun(tx, ctx.organization_id, run.id, ctx.queue_seconds)
    // Who talks to a run that is about to pause wants it to go on.
    if (run.pause_requested_at !== null) await withdrawPause(tx, ctx.organization_id, run.id)
    if (mode === 'interrupt') await notifyOwner(tx, ctx.organization_id, run.id)
    await insertEvent(tx, ctx.organization_id, run.id, finished || run.status === 'paused' ? 'agent_run.status' : 'agent_run.updated', {
      message_seq: appended.total_logs,
    })
    await notifyWork(tx)
    await notifyRun(tx, ctx.organization_id, run.id)
    return getRun(ctx, run.id, tx)
  })
}

/** A repository is removed only when all of its runs have ended. */
async function requireRepositoryOf(tx: Db, run: RunRow): Promise<void> {
  if (run.repository_id !== null && !(await holdRepository(tx, run.organization_id, run.repository_id)))
    throw new ServiceError('conflict', 'The repository of this run was removed: make a new run in another one.')
}

/** Whoever talks to a run that goes on anyway asks for nothing more. */
const isAtWork = ({ status }: RunRow) => status === 'queued' || status === 'starting' || status === 'running'

/** A limit that is used up would pause the run again at once: an error that names the limit to raise. `max_wall_seconds` is per turn and starts anew. */
function requireTopUp(run: RunRow, budget: NonNullable<ResumeRunInput['budget']>): void {
  const { steps, cost_usd, active_ms, budget_max_steps, budget_max_cost_usd, budget_max_active_seconds } = run
  const limits = [
    ['max_steps', steps, budget_max_steps],
    ['max_cost_usd', Number(cost_usd), budget_max_cost_usd],
    ['max_active_seconds', active_ms / 1000, budget_max_active_seconds],
  ] as const
  for (const [name, spent, before] of limits) {
    const given = budget[name]
    const limit = given === undefined ? before : given
    if (limit === null || Number(limit) > spent) continue
    throw given === undefined
      ? invalid(
          ['body', 'budget'],
          `is required: the run used ${spent} of its ${name} ${limit}; give a larger ${name}, the whole limit and not what is added`,
        )
      : invalid(['body', 'budget', name], `must be more than the ${spent} that the run has used: it is the whole limit, not what is added`)
  }
}

/** What a message is to a run in this state: the first of a turn, an answer, or one of the three ways to reach a run at work. One that is being stopped has it for its next turn. */
function deliveryOf(run: RunRow, asked: 'steer' | 'enqueue' | 'interrupt'): MessageMode {
  if (isTerminal(run.status)) return 'prompt'
  if (run.status === 'cancelling') return 'enqueue'
  if (run.status === 'waiting') return 'answer'
  if (run.status === 'paused') return 'steer'
  return asked
}
