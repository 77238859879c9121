import type { AgentRun } from '../../contract/runs/runs.ts'
import type { ToolInput } from '../../contract/runs/tools.ts'
import { childBudget, MAX_CHILDREN, MAX_GENERATIONS } from '../../core/runs/child-budget.ts'
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
const MOST_REPOSITORIES = 10_000
const MOST_NAMED = 20
const by_agent: MessageSource = { source_type: 'PARENT_RUN', comment: null }

/** The run whose agent asks. `epoch`: of the worker that has it; nobody else starts anything for it. */
export type Parent = { organization_id: number; id: number; epoch: number }

/**
 * Starts a run for the agent of another one, once for each of its calls: in the name of that run's user, in repositories that it may reach, and
 * within what is left of its budget. Whatever stands in the way is told in words for the agent.
 */
export async function startChildRun(services: Services, parent: Parent, call_id: string, input: ToolInput<'start_run'>): Promise<AgentRun> {
  // Only people write playbooks: what an agent passes on may be anybody's words.
  if (findPlaybook(input.prompt) !== null) throw refused('The prompt of a child holds no playbook: say in words what it is to do.')
  const row = requireOwned(await getRun(services.db, parent.organization_id, parent.id), parent)
  const ctx = await contextOf(services, row, `child:${row.id}:${call_id}`)
  const repo_id = input.repository === undefined ? row.repository_id : await repositoryNamed(ctx, input.repository)
  if (repo_id !== null && !mayReach(ctx, repo_id)) throw refused('This run may not start runs in its repository.')
  const asked = {
    ...{ prompt: input.prompt, title: input.title ?? null, model: row.model, parent_run_id: row.id, auto_create_pr: row.auto_create_pr },
    ...(repo_id === null ? { repoless: true } : { repo_id, base_ref: repo_id === row.repository_id ? row.base_ref : null }),
  }
  const { plan, problems } = await planRun(ctx, asked)
  if (plan === null) throw problems[0]
  const started = await once(ctx, 'start_run', input, within =>
    within.db.transaction(async tx => {
      const held = requireOwned(await lockRun(tx, parent.organization_id, parent.id), parent)
      await requireRoom(tx, held)
      const budget = childBudget(limitsOf(held), await usedBy(tx, held), input.max_cost_usd ?? null)
      if (typeof budget === 'string') throw refused(budget)
      return acceptRun(tx, within, { ...asked, budget }, plan, by_agent)
    }),
  )
  return started instanceof Replay ? (JSON.parse(started.text) as AgentRun) : started
}

/** The runs that the agent of this one has started. */
export async function listChildrenOf(services: Services, { organization_id, id }: Parent): Promise<AgentRun[]> {
  return runObjects(services.db, organization_id, await listChildRuns(services.db, organization_id, id), services.base_url)
}

const refused = (message: string) => new ServiceError('conflict', message)

function requireOwned<R extends RunRow>(row: R | undefined, { epoch }: Parent): R {
  if (row?.status !== 'running' || row.epoch !== epoch || row.banned) throw refused('This run is ending: it starts no more runs.')
  return row
}

async function contextOf(services: Services, row: RunRow, key: string): Promise<Context> {
  const ctx = await memberContext(services, row, key)
  if (ctx === null) throw refused('The user of this run is no member of the organization any more.')
  if (!ctx.scopes.includes('runs:write')) throw refused('The user of this run may not start runs any more.')
  return { ...ctx, idempotency_key: key }
}

async function requireRoom(tx: Db, { organization_id, id }: RunRow): Promise<void> {
  const children = await listChildRuns(tx, organization_id, id)
  if (children.length >= MAX_CHILDREN) throw refused(`This run has started ${MAX_CHILDREN} runs, and no run starts more.`)
  if ((await generationOf(tx, organization_id, id)) >= MAX_GENERATIONS)
    throw refused(`This run is a child in generation ${MAX_GENERATIONS}, and those start no runs: do the work yourself.`)
}

const limitsOf = (row: RunRow) => ({
  max_cost_usd: row.budget_max_cost_usd,
  max_steps: row.budget_max_steps,
  max_active_seconds: row.budget_max_active_seconds,
  max_wall_seconds: row.budget_max_wall_seconds,
})

const usedBy = async (tx: Db, row: RunRow) => ({
  cost_usd: Number(row.cost_usd),
  children_usd: Number(await costOfChildRuns(tx, row.organization_id, row.id)),
  steps: row.steps,
  active_seconds: row.active_ms / 1_000,
  wall_seconds: (Date.now() - row.turn_started_at.getTime()) / 1_000,
})

const mayReach = ({ actor }: Context, id: number) => actor.repository_ids === null || actor.repository_ids.includes(id)

/** One that the run may not reach is answered as one that never was. */
async function repositoryNamed(ctx: Context, named: string): Promise<number> {
  const filter = { own: ctx.actor.repository_ids, archived: false }
  const { rows } = await listRepositories(ctx.db, ctx.organization_id, 0, MOST_REPOSITORIES, filter)
  const byId = rows.find(({ id }) => String(id) === named)
  if (byId) return byId.id
  const found = rows.filter(({ full_name }) => full_name.toLowerCase() === named.toLowerCase())
  const [first, second] = found
  const list = (those: typeof rows) => those.slice(0, MOST_NAMED).map(({ id, full_name }) => `${id} (${full_name})`)
  if (first === undefined) throw refused(`No repository ${JSON.stringify(named)}. There are: ${list(rows).join(', ')}.`)
  if (second !== undefined) throw refused(`Several repositories are called so. Say which by its id: ${list(found).join(', ')}.`)
  return first.id
}
