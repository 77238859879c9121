import type { CreateRunInput } from '../../contract/runs/run-inputs.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import type { ToolInput } from '../../contract/runs/tools.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { childBudget } from '../../core/runs/budget/child-budget.ts'
import { budgetOf, spentBy } from '../../core/runs/budget/limits.ts'
import { findPlaybook } from '../../core/runs/playbook.ts'
import { ServiceError } from '../../core/service-error.ts'
import { listRepositories } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import { costOfChildRuns, generationOf, listChildRuns } from '../../store/runs/child-runs.ts'
import { getRun, lockRun, type RunRow } from '../../store/runs/runs.ts'
import { once, Replay } from '../access/idempotency.ts'
import { memberContext } from '../access/member-context.ts'
import type { Context, Services } from '../context.ts'
import { acceptRun, planRun } from './create-run.ts'
import type { MessageSource } from './message-source.ts'
import { runObjects } from './run-object.ts'

/** More than any organization has registered. */
const MAX_REPOSITORIES = 10_000
const MAX_NAMED = 20
/**
 * How many runs an agent may start in one run, and how many generations of children may exist below the first
 * run.
 */
const MAX_CHILDREN = 10
const MAX_GENERATIONS = 3
const by_agent: MessageSource = { source_type: 'PARENT_RUN', comment: null }

/** The run whose agent starts a child. `epoch`: of the worker that owns it; no other worker may start one. */
type Parent = { organization_id: number; id: number; epoch: number }

/**
 * Starts a run for the agent of another one, once for each of its calls: on behalf of that run's user, in
 * repositories that it may reach, and limited to the rest of its budget. Throws errors with a message for the
 * agent.
 */
export async function startChildRun(
  services: Services,
  parent: Parent,
  call_id: string,
  input: ToolInput<'start_run'>,
): Promise<AgentRun> {
  // Only people write playbooks: a prompt of an agent may contain text from anywhere.
  if (findPlaybook(input.prompt) !== null)
    throw refused('The prompt of a child must not be a playbook: describe the task in words.')
  const row = requireOwned(await getRun(services.db, parent.organization_id, parent.id), parent)
  const ctx = await contextOf(services, row, `child:${row.id}:${call_id}`)
  const repo_id =
    input.repository === undefined ? row.repository_id : await repositoryNamed(ctx, input.repository)
  if (repo_id !== null && !mayReach(ctx, repo_id))
    throw refused('This run may not start runs in its repository.')
  const request = {
    prompt: input.prompt,
    title: input.title ?? null,
    model: row.model,
    reasoning_effort: row.reasoning_effort,
    review: row.review,
    parent_run_id: row.id,
    auto_create_pr: row.auto_create_pr,
    tools_off: row.tools_off as CreateRunInput['tools_off'],
    ...(repo_id === null
      ? { repoless: true }
      : { repo_id, base_ref: repo_id === row.repository_id ? row.base_ref : null }),
  }
  const { plan, problems } = await planRun(ctx, request)
  if (plan === null) throw problems[0]
  const started = await once(ctx, 'start_run', input, inner =>
    inner.db.transaction(async tx => {
      const run = requireOwned(await lockRun(tx, parent.organization_id, parent.id), parent)
      await requireRoom(tx, run)
      const children_usd = Number(await costOfChildRuns(tx, run.organization_id, run.id))
      const used = spentBy(run, { children_usd, now_ms: Date.now() })
      const budget = childBudget(budgetOf(run), used, input.max_cost_usd ?? null)
      if (typeof budget === 'string') throw refused(budget)
      return acceptRun(tx, inner, { ...request, budget }, plan, by_agent)
    }),
  )
  return started instanceof Replay ? storedJson<AgentRun>(started.text) : started
}

/** Returns the runs that the agent of this run has started. */
export async function listChildrenOf(
  services: Services,
  { organization_id, id }: Parent,
): Promise<AgentRun[]> {
  return runObjects(
    services.db,
    organization_id,
    await listChildRuns(services.db, organization_id, id),
    services.base_url,
  )
}

const refused = (message: string) => new ServiceError('conflict', message)

function requireOwned<R extends RunRow>(row: R | undefined, { epoch }: Parent): R {
  if (row?.status !== 'running' || row.epoch !== epoch || row.banned)
    throw refused('This run is ending and cannot start other runs.')
  return row
}

async function contextOf(services: Services, row: RunRow, key: string): Promise<Context> {
  const ctx = await memberContext(services, row, key)
  if (ctx === null) throw refused('The user of this run is no longer a member of the organization.')
  if (!ctx.scopes.includes('runs:write')) throw refused('The user of this run may no longer start runs.')
  return { ...ctx, idempotency_key: key }
}

async function requireRoom(tx: Db, { organization_id, id }: RunRow): Promise<void> {
  const children = await listChildRuns(tx, organization_id, id)
  if (children.length >= MAX_CHILDREN)
    throw refused(`This run has started ${MAX_CHILDREN} runs, which is the maximum.`)
  if ((await generationOf(tx, organization_id, id)) >= MAX_GENERATIONS)
    throw refused(
      `This run is a child in generation ${MAX_GENERATIONS}, the last one that is allowed: do the work yourself.`,
    )
}

const mayReach = ({ actor }: Context, id: number) =>
  actor.repository_ids === null || actor.repository_ids.includes(id)

/** Treats a repository that the run may not reach as one that does not exist. */
async function repositoryNamed(ctx: Context, named: string): Promise<number> {
  const filter = { own: ctx.actor.repository_ids, archived: false }
  const { rows } = await listRepositories(
    ctx.db,
    ctx.organization_id,
    { skip: 0, limit: MAX_REPOSITORIES },
    filter,
  )
  const byId = rows.find(({ id }) => String(id) === named)
  if (byId) return byId.id
  const found = rows.filter(({ full_name }) => full_name.toLowerCase() === named.toLowerCase())
  const [first, second] = found
  const list = (those: typeof rows) =>
    those.slice(0, MAX_NAMED).map(({ id, full_name }) => `${id} (${full_name})`)
  if (first === undefined)
    throw refused(`No repository ${JSON.stringify(named)}. Available: ${list(rows).join(', ')}.`)
  if (second !== undefined)
    throw refused(
      `Several repositories have this name. Use the id of one of them: ${list(found).join(', ')}.`,
    )
  return first.id
}
