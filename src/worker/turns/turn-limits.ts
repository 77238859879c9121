import type { Meter } from '../../agent/meter.ts'
import type { TokenEstimate } from '../../agent/token-estimate.ts'
import {
  type LimitReached,
  limitReached,
  type Reservation,
  type RunBudget,
  reserve,
  type Spent,
  shortOf,
  timeLeft,
} from '../../core/runs/budget-check.ts'
import { nearLimits, noticeKey, noticeText } from '../../core/runs/near-limits.ts'
import type { Model, ModelMessage } from '../../model/port.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Control } from '../claim/control.ts'
import type { WorkerDeps } from '../settings.ts'
import { watchMonth } from './organization-budget.ts'

/** A limit of time is looked for this long after it was reached, so that the look finds it. */
const SLACK_MS = 50
const MAX_OUTPUT_TOKENS = 32_000

export type TurnMeter = Meter & {
  charged(charge: Pick<Reservation, 'cost_usd'>): void
  /** What the child runs of the run have cost and may still cost, from now on. */
  childrenCost(usd: number): void
  left_ms(): number
  left_usd(): number | null
  watch(): () => void
}

/**
 * Counts what a turn spends, over all its owners; says before each model call what it may take, and what the agent is told of limits that
 * are near; from `watch` on, until its answer is called, interrupts the step that is at work when a limit of time is reached. `noticed`: the notices that were given already.
 */
export function watchLimits(
  deps: Pick<WorkerDeps, 'db' | 'ceilings' | 'turn_wall_seconds'>,
  run: RunRow,
  { model, estimate, noticed }: { model: Model; estimate: TokenEstimate; noticed: Set<string> },
  worked_ms: () => number,
  control: Control,
): TurnMeter {
  const budget: RunBudget = {
    max_cost_usd: run.budget_max_cost_usd,
    max_steps: run.budget_max_steps,
    max_active_seconds: run.budget_max_active_seconds,
    max_wall_seconds: run.budget_max_wall_seconds,
  }
  let steps = run.steps
  let cost = Number(run.cost_usd)
  let children_cost = 0
  // The claim set updated_at: all three by the clock of the database, and from there on by ours.
  const asked_ms_ago = run.updated_at.getTime() - run.turn_started_at.getTime()
  const deadline_in_ms = run.deadline_at === null ? null : run.deadline_at.getTime() - run.updated_at.getTime()
  const time = () => ({
    run_active_ms: run.active_ms + worked_ms(),
    turn_wall_ms: asked_ms_ago + worked_ms(),
    turn_active_ms: run.turn_active_ms + worked_ms(),
  })
  const left_usd = () => (budget.max_cost_usd === null ? null : Number(budget.max_cost_usd) - cost - children_cost)
  const month = watchMonth(deps.db, run.organization_id)
  const near = (spent: Spent, context_tokens: number) => {
    const turn_seconds = deps.turn_wall_seconds - Math.floor(((deadline_in_ms ?? 0) - worked_ms()) / 1_000)
    const limits = nearLimits(spent, budget, deps.ceilings, [
      ['seconds of the turn', deadline_in_ms === null ? 0 : turn_seconds, deps.turn_wall_seconds],
      ['tokens of context', context_tokens, model.context_tokens],
    ]).filter(limit => !noticed.has(noticeKey(limit)))
    for (const limit of limits) noticed.add(noticeKey(limit))
    const message: ModelMessage = { role: 'user', content: noticeText(limits) }
    return limits.length === 0 ? null : { limits, message }
  }

  return {
    plan(messages, turn) {
      const spent = { ...time(), run_steps: steps, run_cost_usd: cost + children_cost, turn_steps: turn.steps, turn_tokens: turn.tokens }
      const reached = limitReached(spent, budget, deps.ceilings)
      if (reached !== null) return { kind: 'limit', limit: reached }
      const input_tokens = model.scripted ? 0 : estimate.of(messages)
      const notice = near(spent, input_tokens)
      const told = notice === null || model.scripted ? 0 : estimate.of([...messages, notice.message]) - input_tokens
      const call = { model: run.model, input_tokens: input_tokens + told, max_output_tokens: MAX_OUTPUT_TOKENS }
      const { fits, reservation } = reserve(call, model.price, left_usd())
      if (!fits) return { kind: 'limit', limit: shortOf(cost + children_cost, Number(reservation.cost_usd), Number(budget.max_cost_usd)) }
      return { kind: 'call', reservation, notice }
    },
    async afford({ cost_usd }): Promise<LimitReached | null> {
      return cost_usd === '0' ? null : month()
    },
    answered(messages, answer) {
      steps++
      cost += Number(answer.usage.cost_usd ?? 0)
      estimate.counted(messages, answer)
    },
    charged(charge) {
      cost += Number(charge.cost_usd ?? 0)
    },
    childrenCost(usd) {
      children_cost = usd
    },
    left_usd,
    left_ms: () => (deadline_in_ms === null ? Number.POSITIVE_INFINITY : deadline_in_ms - worked_ms()),
    watch() {
      const timer = setTimeout(() => control.interruptStep(), timeLeft(time(), budget, deps.ceilings) + SLACK_MS)
      return () => clearTimeout(timer)
    },
  }
}
