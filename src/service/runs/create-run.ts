import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import type { ReviewMode } from '../../contract/review-modes.ts'
import type { CreateRunInput } from '../../contract/runs/run-inputs.ts'
import { no_budget } from '../../contract/runs/run-limits.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { BUILT_IN_AGENT } from '../../core/agents/registered-agents.ts'
import { findPlaybook } from '../../core/runs/playbook.ts'
import { titleOf } from '../../core/runs/title.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { holdRepository, type RepositoryRow, setDefaultBranch } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { recordTraceparent } from '../../store/runs/run-changes.ts'
import { insertRun, type NewRun } from '../../store/runs/runs.ts'
import { runLink, userMessage } from '../../trace/entry.ts'
import { requireQuota } from '../access/quota.ts'
import type { Context, UsableModel } from '../context.ts'
import { defaultModel, requestedModel } from '../organizations/models.ts'
import { chooseRepository } from '../repositories/choose-repository.ts'
import { repositoryNotFound } from '../repositories/repositories.ts'
import { withoutSecrets } from '../secrets/known-secrets.ts'
import { storedTargets } from '../webhooks/webhook-targets.ts'
import { byCaller, type MessageSource } from './message-source.ts'
import { linkWhileActive } from './related-runs.ts'
import { newRunObject } from './run-object.ts'
import { requireLockedRun, requireRun } from './runs.ts'

/** Agents that clients of the public API request by name. */
const PUBLIC_AGENTS = ['claude_code', 'codex', 'opencode', 'gemini']

/**
 * Accepts a run: the row, its first entry and the notification of workers commit together
 * (specification.md#create-and-resume). Throws 400 that names the field; 404 for a repository or parent run
 * that is not in this organization.
 */
export async function createRun(
  ctx: Context,
  input: CreateRunInput,
  source: MessageSource = byCaller(ctx),
): Promise<AgentRun> {
  const { plan, problems } = await planRun(ctx, input)
  if (plan === null) throw problems[0]
  return ctx.db.transaction(tx => acceptRun(tx, ctx, input, plan, source))
}

type Agent = { agent_type: string; instead_of?: string }
/**
 * `by_default`: nobody named it; `new_default`: the default branch of the repository, when another or none is
 * recorded.
 */
type Base = {
  state: 'known' | 'empty' | 'no_mirror'
  ref: string | null
  sha: string | null
  by_default?: boolean
  new_default?: string
}

/** Everything that is decided before the run is written. */
export type RunPlan = {
  agent: Agent
  /** `instead_of`: the public model name that was requested, and that this service does not have. */
  model: UsableModel & { instead_of?: string }
  /** Null: the default of the model. */
  reasoning_effort: ReasoningEffort | null
  /** Null: the default of the service. */
  review: ReviewMode | null
  /** Null: an empty workspace. */
  repository: RepositoryRow | null
  base: Base
  branch_prefix: string | null
  webhooks: string | null
  auto_create_pr: boolean
}

/** The resolved parts of a run, and the problems: `plan` is set when there are none. */
export type PlannedRun = {
  plan: RunPlan | null
  found: { [K in keyof RunPlan]: RunPlan[K] | undefined }
  problems: ServiceError[]
}

/**
 * Resolves everything that a run needs, and continues after a problem where it can. A create is refused with
 * the first problem.
 */
export async function planRun(ctx: Context, input: CreateRunInput): Promise<PlannedRun> {
  const problems: ServiceError[] = []
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      problems.push(error)
    }
  }
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const named = await attempt(() => chooseAgent(ctx, input.agent_type ?? BUILT_IN_AGENT))
  const model = await attempt(() =>
    chooseModel(ctx, input.model ?? null, organization?.default_model ?? null),
  )
  const agent = named && model ? await attempt(() => callingAgent(ctx, named, model)) : named
  if (model?.scripted) await attempt(() => requireValidPlaybook(input.prompt))
  const webhooks = await attempt(() => storedTargets(ctx, input.webhooks))
  const repository = await attempt(() =>
    chooseRepository(ctx, input, organization?.default_repository_id ?? null),
  )
  const base =
    repository === undefined
      ? undefined
      : await attempt(() => chooseBase(ctx, repository, input.base_ref ?? null))
  const { parent_run_id } = input
  if (parent_run_id != null) await attempt(() => requireRun(ctx.db, ctx.organization_id, parent_run_id))
  const auto_create_pr = input.auto_create_pr ?? organization?.enable_pr_creation ?? true
  const reasoning_effort =
    input.reasoning_effort ?? repository?.reasoning_effort ?? organization?.reasoning_effort ?? null
  const review = input.review ?? repository?.review ?? organization?.review ?? null
  const branch_prefix = repository?.branch_prefix ?? organization?.branch_prefix ?? null
  const found = {
    agent,
    model,
    reasoning_effort,
    review,
    repository,
    base,
    branch_prefix,
    webhooks,
    auto_create_pr,
  }
  return { plan: problems.length === 0 ? (found as RunPlan) : null, found, problems }
}

/** Writes the run in the caller's transaction: queued, or not at all. */
export async function acceptRun(
  tx: Db,
  ctx: Context,
  input: CreateRunInput,
  plan: RunPlan,
  source: MessageSource = byCaller(ctx),
): Promise<AgentRun> {
  const { repository, model, base } = plan
  const texts = await withoutSecrets(tx, ctx, repository?.id ?? null, {
    prompt: input.prompt,
    title: input.title ?? null,
    tags: input.tags ?? [],
    metadata: input.metadata ?? null,
    instead_of: model.instead_of ?? null,
  })
  if (repository && !(await holdRepository(tx, ctx.organization_id, repository.id)))
    throw repositoryNotFound()
  if (repository && base.new_default !== undefined)
    await setDefaultBranch(tx, ctx.organization_id, repository.id, base.new_default)
  const parent =
    input.parent_run_id == null
      ? null
      : await requireLockedRun(tx, ctx.organization_id, input.parent_run_id, 'key share')
  const { id } = await insertRun(tx, newRun(ctx, input, plan, texts, source.source_type))
  if (ctx.traceparent !== null) await recordTraceparent(tx, ctx.organization_id, id, ctx.traceparent)
  const entries = [firstMessage(ctx, input, plan, texts, source.source_type)]
  if (source.comment) entries.push(source.comment)
  if (parent)
    entries.push(
      runLink({ id: parent.id, web_url: traceUrl(ctx.base_url, parent.id) }, source.relation ?? 'parent'),
    )
  const created = { organization_id: ctx.organization_id, id }
  const { user_id } = ctx.actor
  const message = {
    turn: 1,
    mode: 'prompt',
    text: texts.prompt,
    images: input.images ?? null,
    user_id,
  } as const
  await reportRun(tx, created, { entries, message, notify: false })
  const run = newRunObject(await requireRun(tx, ctx.organization_id, id), ctx.base_url)
  if (parent) await linkWhileActive(tx, ctx, parent.id, { to: run, relation: source.relation ?? 'child' })
  // Last: from here on, every other create of the organization waits for this one.
  const event = { type: 'agent_run.created', body: { status: 'queued' } } as const
  await reportRun(tx, created, { event, wakes_workers: true })
  await requireQuota(tx, created, 1)
  return run
}

/** The texts of a request without the values of secrets. */
type RunTexts = {
  prompt: string
  title: string | null
  tags: string[]
  metadata: CreateRunInput['metadata'] | null
  instead_of: string | null
}

function newRun(
  ctx: Context,
  input: CreateRunInput,
  plan: RunPlan,
  texts: RunTexts,
  source_type: MessageSource['source_type'],
): NewRun {
  return {
    organization_id: ctx.organization_id,
    user_id: ctx.actor.user_id,
    repository_id: plan.repository?.id ?? null,
    source_type,
    agent_type: plan.agent.agent_type,
    model: plan.model.id,
    reasoning_effort: plan.reasoning_effort,
    review: plan.review,
    tools_off: input.tools_off ?? [],
    prompt: texts.prompt,
    title: texts.title ?? titleOf(texts.prompt),
    tags: texts.tags,
    metadata: texts.metadata == null ? null : JSON.stringify(texts.metadata),
    webhooks: plan.webhooks,
    base_ref: plan.base.ref,
    base_sha: plan.base.sha,
    from_default_branch: plan.base.by_default ?? false,
    branch_prefix: plan.branch_prefix,
    auto_create_pr: plan.auto_create_pr,
    parent_run_id: input.parent_run_id ?? null,
    repository_ids: ctx.actor.repository_ids,
    budget: { ...no_budget, ...input.budget },
    deadline_seconds: ctx.queue_seconds,
  }
}

function firstMessage(
  { actor }: Context,
  { images }: CreateRunInput,
  { agent, model }: RunPlan,
  { prompt, instead_of }: RunTexts,
  source_type: MessageSource['source_type'],
) {
  return userMessage({
    text: prompt,
    user_id: actor.user_id,
    source_type,
    mode: 'prompt',
    images: images?.length ?? 0,
    agent,
    ...(instead_of !== null && { model: { id: model.id, instead_of } }),
  })
}

/**
 * Under wire profile `codegen` the built-in agent replaces one that is not installed, and the first entry
 * reports it (specification.md#create-and-resume).
 */
function chooseAgent(ctx: Context, name: string): Agent {
  if (name === BUILT_IN_AGENT || name === 'codegen') return { agent_type: BUILT_IN_AGENT }
  if (ctx.agents.has(name)) return { agent_type: name }
  if (ctx.actor.wire_profile === 'codegen' && PUBLIC_AGENTS.includes(name))
    return { agent_type: BUILT_IN_AGENT, instead_of: name }
  const available = [BUILT_IN_AGENT, ...ctx.agents.keys()].join(', ')
  throw invalid(
    ['body', 'agent_type'],
    `agent ${JSON.stringify(name)} is not registered; available: ${available}`,
  )
}

/**
 * Returns the agent if it can call the model. Clients of profile `codegen` name an agent with every request,
 * and mean one that works.
 */
function callingAgent(ctx: Context, agent: Agent, model: RunPlan['model']): Agent {
  const { agent_type } = agent
  const is_public = ctx.actor.wire_profile === 'codegen' && PUBLIC_AGENTS.includes(agent_type)
  if (is_public && !canCall(ctx, agent, model)) return { agent_type: BUILT_IN_AGENT, instead_of: agent_type }
  requireCallable(ctx, agent, model)
  return agent
}

function canCall(ctx: Context, { agent_type }: Agent, { endpoint }: Pick<UsableModel, 'endpoint'>): boolean {
  const apis = ctx.agents.get(agent_type)?.apis
  return apis === undefined || (endpoint !== null && apis.includes(endpoint.api))
}

/**
 * Throws 400 for a model that the agent cannot call: one of another vendor calls it itself, so it must know
 * the wire format of its provider.
 */
export function requireCallable(ctx: Context, agent: Agent, { id, endpoint }: RunPlan['model']): void {
  if (canCall(ctx, agent, { endpoint })) return
  const { agent_type } = agent
  const apis = ctx.agents.get(agent_type)?.apis ?? []
  const has =
    endpoint === null ? 'plays scripts of the built-in agent' : `has the wire format ${endpoint.api}`
  throw invalid(
    ['body', 'model'],
    `agent ${agent_type} cannot call ${id}, which ${has}; it calls models by ${apis.join(', ')}`,
  )
}

/**
 * The default model replaces a public model name under wire profile `codegen`, as the built-in agent replaces
 * other agents.
 */
async function chooseModel(
  ctx: Context,
  name: string | null,
  organization_model: string | null,
): Promise<RunPlan['model']> {
  const models = await ctx.organizationModels(ctx.db, ctx.organization_id)
  const named = name === null ? null : requestedModel(models, ctx, name)
  if (named !== null) return named
  const model = defaultModel(models, organization_model)
  return name === null ? model : { ...model, instead_of: name }
}

/**
 * Refuses a scripted run with an invalid script at once, with line and key, rather than letting it fail
 * later.
 */
export function requireValidPlaybook(prompt: string): void {
  const found = findPlaybook(prompt)
  if (found && !found.ok)
    throw invalid(
      ['body', 'prompt'],
      `playbook, line ${found.line}${found.key ? `, key ${found.key}` : ''}: ${found.message}`,
    )
}

async function chooseBase(
  ctx: Context,
  repository: RepositoryRow | null,
  named: string | null,
): Promise<Base> {
  if (!repository) return { state: 'known', ref: null, sha: null }
  const wanted = named ?? repository.base_branch
  const by_default = wanted === null
  const base = await ctx.resolveBase(repository, wanted)
  if (base.state === 'known')
    return {
      ...base,
      by_default,
      ...(by_default && base.ref !== repository.default_branch && { new_default: base.ref }),
    }
  if (base.state === 'unknown_ref') throw invalid(['body', 'base_ref'], noSuchBase(repository, named))
  return { state: base.state, ref: wanted, sha: null, by_default }
}

/**
 * States what the caller did not name: the base branch of the settings may have been renamed or deleted
 * since.
 */
function noSuchBase({ full_name, base_branch }: RepositoryRow, named: string | null): string {
  if (named !== null) return `no branch, tag or commit ${JSON.stringify(named)} in ${full_name}`
  if (base_branch === null)
    return `${full_name} has no branch that can be recognized as its default branch: name one`
  const name = JSON.stringify(base_branch)
  return `the base branch in the settings of the repository, ${name}, is no longer in ${full_name}: it was renamed or deleted; change the settings, or name another one`
}
