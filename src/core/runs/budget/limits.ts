import { byLimit, type LimitName, type RunBudget, run_limits } from '../../../contract/runs/run-limits.ts'
import type { SharedPotName } from './pot.ts'

/** What a run has used of its limits. `turn_wall_ms`: since its turn was requested. */
export type RunSpent = {
  run_steps: number
  run_cost_usd: number
  run_active_ms: number
  turn_wall_ms: number
}

/**
 * What is a rule for a limit. `scope`: it counts over all turns of the run, or restarts with each turn.
 * `spent`: what was used, in the unit of the limit. `text`: the same in a message.
 */
type Rule = {
  scope: 'run' | 'turn'
  spent(spent: RunSpent): number
  text(used: number): string
}

/** In the order of their check: the first one that is reached is reported. */
const rules: Record<LimitName, Rule> = {
  max_steps: {
    scope: 'run',
    spent: ({ run_steps }) => run_steps,
    text: steps => `${steps} steps`,
  },
  max_cost_usd: {
    scope: 'run',
    spent: ({ run_cost_usd }) => run_cost_usd,
    text: usd => `${usd} USD`,
  },
  max_active_seconds: {
    scope: 'run',
    spent: ({ run_active_ms }) => run_active_ms / 1_000,
    text: seconds => `${Math.floor(seconds)} s of work`,
  },
  max_wall_seconds: {
    scope: 'turn',
    spent: ({ turn_wall_ms }) => turn_wall_ms / 1_000,
    text: seconds => `${Math.floor(seconds)} s`,
  },
}

type UsedLimit = Rule & {
  name: LimitName
  unit: (typeof run_limits)[LimitName]['unit']
  allowed: number
  used: number
}

/** Returns the limits that a budget sets, each with what is used of it. */
export const usedLimits = (budget: RunBudget, spent: RunSpent): UsedLimit[] =>
  Object.entries(rules).flatMap(([key, rule]) => {
    const name = key as LimitName
    const allowed = budget[name]
    return allowed === null
      ? []
      : [{ ...rule, name, unit: run_limits[name].unit, allowed: Number(allowed), used: rule.spent(spent) }]
  })

/** The columns of a run that store its budget. */
export type BudgetColumns = { [K in LimitName as `budget_${K}`]: RunBudget[K] }

export const budgetOf = (run: BudgetColumns): RunBudget => byLimit(name => run[`budget_${name}`])

type CountedRun = { steps: number; cost_usd: string; active_ms: number; turn_started_at: Date }

/**
 * Returns what a run has used by its row. `children_usd`: what its children have cost, and may still cost.
 */
export const spentBy = (
  run: CountedRun,
  { children_usd, now_ms }: { children_usd: number; now_ms: number },
): RunSpent => ({
  run_steps: run.steps,
  run_cost_usd: Number(run.cost_usd) + children_usd,
  run_active_ms: run.active_ms,
  turn_wall_ms: now_ms - run.turn_started_at.getTime(),
})

/** Ceilings of the service for one turn: reaching one ends the run (specification.md#run-status). */
export type Ceilings = { max_steps: number; max_tokens: number; max_active_ms: number }

export type SpentAmounts = RunSpent & { turn_steps: number; turn_tokens: number; turn_active_ms: number }

export type LimitReached =
  | { kind: 'budget'; limit: LimitName | SharedPotName; message: string }
  | { kind: 'ceiling'; reason: CeilingReason; message: string }

type CeilingReason = 'max_steps' | 'out_of_tokens' | 'timeout'

/** `text`: what the turn has done. */
type UsedCeiling = {
  reason: CeilingReason
  unit: 'steps' | 'tokens' | 'seconds'
  name: string
  variable: string
  used: number
  allowed: number
  text: string
}

export const usedCeilings = (spent: SpentAmounts, ceilings: Ceilings): UsedCeiling[] => [
  {
    reason: 'max_steps',
    unit: 'steps',
    name: 'steps of the turn',
    variable: 'AGENTRUN_RUN_MAX_STEPS',
    used: spent.turn_steps,
    allowed: ceilings.max_steps,
    text: `took ${spent.turn_steps} steps`,
  },
  {
    reason: 'out_of_tokens',
    unit: 'tokens',
    name: 'tokens of the turn',
    variable: 'AGENTRUN_RUN_MAX_TOKENS',
    used: spent.turn_tokens,
    allowed: ceilings.max_tokens,
    text: `used ${spent.turn_tokens} tokens`,
  },
  {
    reason: 'timeout',
    unit: 'seconds',
    name: 'seconds of work of the turn',
    variable: 'AGENTRUN_RUN_MAX_ACTIVE_SECONDS',
    used: spent.turn_active_ms / 1_000,
    allowed: ceilings.max_active_ms / 1_000,
    text: `worked ${Math.floor(spent.turn_active_ms / 1_000)} s`,
  },
]

const CACHED_SHARE = 0.1

/**
 * Returns the tokens that a response counts against the ceiling: prompt tokens from the provider's cache
 * count a tenth, which is about their price.
 */
export const countedTokens = (usage: {
  input_tokens: number
  output_tokens: number
  cached_tokens: number
}): number => usage.input_tokens + usage.output_tokens - Math.floor(usage.cached_tokens * (1 - CACHED_SHARE))

/** Checks the limits before every model call. Returns null when the run may continue. */
export function limitReached(
  spent: SpentAmounts,
  budget: RunBudget,
  ceilings: Ceilings,
): LimitReached | null {
  const limit = usedLimits(budget, spent).find(({ used, allowed }) => used >= allowed)
  if (limit) return paused(limit.name, limit.text(limit.used), budget)
  const ceiling = usedCeilings(spent, ceilings).find(({ used, allowed }) => used >= allowed)
  return ceiling ? ended(ceiling) : null
}

/**
 * Checks the calls of served tools, which a program makes in a turn without calling the model: it may make as
 * many as it may take steps.
 */
export function callLimitReached(calls: number, budget: RunBudget, ceilings: Ceilings): LimitReached | null {
  const text = `${calls} calls of tools of MCP servers`
  if (budget.max_steps !== null && calls >= budget.max_steps)
    return paused('max_steps', `${text} in this turn`, budget)
  if (calls < ceilings.max_steps) return null
  return ended({
    reason: 'max_steps',
    unit: 'steps',
    variable: 'AGENTRUN_RUN_MAX_STEPS',
    allowed: ceilings.max_steps,
    text: `made ${text}`,
  })
}

/** Returns the milliseconds until the nearest time limit. A step that takes longer is interrupted then. */
export function timeLeft(spent: SpentAmounts, budget: RunBudget, ceilings: Ceilings): number {
  const left = usedLimits(budget, spent).flatMap(({ unit, allowed, used }) =>
    unit === 'seconds' ? [(allowed - used) * 1_000] : [],
  )
  return Math.max(0, Math.min(ceilings.max_active_ms - spent.turn_active_ms, ...left))
}

const paused = (limit: LimitName, used: string, budget: RunBudget): LimitReached => ({
  kind: 'budget',
  limit,
  message: `The run used ${used} and its budget allows ${limit} ${budget[limit]}. Resume it with a larger budget to continue.`,
})

const ended = ({
  reason,
  unit,
  variable,
  allowed,
  text,
}: Omit<UsedCeiling, 'name' | 'used'>): LimitReached => ({
  kind: 'ceiling',
  reason,
  message: `the turn ${text}, the service allows ${allowed}${unit === 'seconds' ? ' s' : ''} (${variable}). Resume the run to continue with a new allowance.`,
})
