import { type Ceilings, type LimitReached, limitReached, type RunBudget, timeLeft } from '../core/run-limits.ts'
import type { ModelUsage } from '../model/port.ts'
import type { RunRow } from '../store/runs.ts'
import type { Control } from './control.ts'

/** A limit of time is looked for this long after it was reached, so that the look finds it. */
const SLACK_MS = 50

/** Counts what a turn spends, and interrupts the step that is at work when a limit of time is reached. */
export function watchLimits(run: RunRow, ceilings: Ceilings, worked_ms: () => number, control: Control) {
  const budget: RunBudget = {
    max_cost_usd: run.budget_max_cost_usd,
    max_steps: run.budget_max_steps,
    max_active_seconds: run.budget_max_active_seconds,
    max_wall_seconds: run.budget_max_wall_seconds,
  }
  let steps = run.steps
  let cost = Number(run.cost_usd)
  const time = () => ({
    run_active_ms: run.active_ms + worked_ms(),
    turn_wall_ms: Date.now() - run.turn_started_at.getTime(),
    turn_active_ms: worked_ms(),
  })
  const timer = setTimeout(() => control.interruptStep(), timeLeft(time(), budget, ceilings) + SLACK_MS)
  return {
    count(usage: ModelUsage) {
      steps++
      cost += Number(usage.cost_usd ?? 0)
    },
    check: (turn: { steps: number; tokens: number }): LimitReached | null =>
      limitReached({ ...time(), run_steps: steps, run_cost_usd: cost, turn_steps: turn.steps, turn_tokens: turn.tokens }, budget, ceilings),
    stop: () => clearTimeout(timer),
  }
}
