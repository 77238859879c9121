import type { Meter, PlannedCall } from '../../agent/meter.ts'
import type { TokenEstimate } from '../../agent/token-estimate.ts'
import {
  budgetOf,
  callLimitReached,
  type LimitReached,
  limitReached,
  type SpentAmounts,
  timeLeft,
} from '../../core/runs/budget/limits.ts'
import { nearLimits, noticeKey, noticeText } from '../../core/runs/budget/near-limits.ts'
import { outputLimit } from '../../core/runs/budget/output-limit.ts'
import {
  leftIn,
  overdrawn,
  type Pot,
  type Reservation,
  reserve,
  shortOf,
} from '../../core/runs/budget/pot.ts'
import type { Model, ModelMessage, ModelResponse } from '../../model/port.ts'
import { sharedPots } from '../../store/access/shared-pots.ts'
import type { Db } from '../../store/database.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { deadlineAfterClaim } from '../deadline.ts'
import type { TurnContext } from './turn.ts'

/**
 * How long the shared pots of a run are not queried again while none of them has a limit: a new one applies
 * that much later.
 */
const NO_POT_MS = 5_000
/** A limit of time is checked this long after it was reached, so that the check finds it. */
const SLACK_MS = 50

export type TurnMeter = Meter & {
  /**
   * Returns the limit that a turn with these steps, tokens and calls of served tools has reached; null: it
   * may call another one.
   */
  limitOfCalls(turn: TurnSpent, calls: number): LimitReached | null
  /** Sets what the child runs have cost and may still cost. */
  childrenCost(usd: number): void
  /** Sets how many calls of a program are in flight, and what is reserved for them. */
  callsInFlight(calls: number, usd: number): void
  left_ms(): number
  left_usd(): number | null
  watch(): () => void
}

type TurnSpent = { steps: number; tokens: number }

/** The call that is planned, with the notice that its messages end with. */
type WantedCall = { input_tokens: number; notice: PlannedCall['notice']; max_output_tokens: number }

/** `noticed`: the notices that the agent has received already. */
type WatchedTurn = { model: Model; estimate: TokenEstimate; noticed: Set<string> }

/**
 * Counts what a turn spends, across its workers. Plans each model call within the limits, with a notice to
 * the agent when limits are near. From `watch` until its result is called, interrupts the step in progress
 * when a limit of time is reached.
 */
export function createTurnMeter(
  { deps, run, heartbeat, control }: TurnContext,
  watched: WatchedTurn,
): TurnMeter {
  const { model, estimate } = watched
  const budget = budgetOf(run)
  const time = timesOf(run, heartbeat.worked_ms)
  const { spentBy, inFlight, pot, ...spending } = countSpending(run, time.now)
  const left_usd = () => leftIn(pot())
  const shared = watchSharedPots(deps.db, run)
  const noticeFor = (spent: SpentAmounts): PlannedCall['notice'] => {
    const limits = nearLimits(spent, budget, deps.ceilings, [
      ['seconds of the turn', time.turnSeconds(deps.turn_wall_seconds), deps.turn_wall_seconds],
    ])
    return newNotice(limits, watched.noticed)
  }
  const planned = (
    turn: TurnSpent,
    callFor: (spent: SpentAmounts) => WantedCall,
  ): ReturnType<Meter['plan']> => {
    const spent = spentBy(turn, inFlight())
    const reached = limitReached(spent, budget, deps.ceilings)
    if (reached !== null) return { kind: 'limit', limit: reached }
    const { notice, max_output_tokens, ...wanted } = callFor(spent)
    const input_tokens = model.scripted ? 0 : wanted.input_tokens
    const output_tokens = Math.min(max_output_tokens, outputLimit(model, run.reasoning_effort, input_tokens))
    const call = { model: run.model, input_tokens, max_output_tokens: output_tokens }
    const { fits, reservation } = reserve(call, model.price, left_usd())
    if (!fits) {
      const message = shortOf(pot(), Number(reservation.cost_usd))
      return { kind: 'limit', limit: { kind: 'budget', limit: 'max_cost_usd', message } }
    }
    return { kind: 'call', reservation, notice }
  }

  return {
    plan: (messages, turn) =>
      planned(turn, spent => {
        const notice = noticeFor(spent)
        return {
          input_tokens: estimate.of(notice === null ? messages : [...messages, notice.message]),
          notice,
          max_output_tokens: Number.POSITIVE_INFINITY,
        }
      }),
    planWithoutNotice: (call, turn) => planned(turn, () => ({ ...call, notice: null })),
    limitOfCalls: (turn, calls) =>
      limitReached(spentBy(turn, 0), budget, deps.ceilings) ?? callLimitReached(calls, budget, deps.ceilings),
    async afford({ cost_usd }): Promise<LimitReached | null> {
      return cost_usd === '0' ? null : shared()
    },
    modelResponded(messages, response) {
      spending.responded(response)
      estimate.counted(messages, response)
    },
    charged: spending.charged,
    childrenCost: spending.childrenCost,
    callsInFlight: spending.callsInFlight,
    left_usd,
    left_ms: time.left_ms,
    watch() {
      const timer = setTimeout(
        () => control.interruptStep(),
        timeLeft(spentBy({ steps: 0, tokens: 0 }, 0), budget, deps.ceilings) + SLACK_MS,
      )
      return () => clearTimeout(timer)
    },
  }
}

/** Counts the steps and the cost of a run: what it has spent, and what its calls in flight may spend. */
function countSpending(run: RunRow, now: ReturnType<typeof timesOf>['now']) {
  let steps = run.steps
  let cost = Number(run.cost_usd)
  let children_cost = 0
  let in_flight = { calls: 0, usd: 0 }
  return {
    /** `calls`: those that count as steps although they have not ended. */
    spentBy: (turn: TurnSpent, calls: number): SpentAmounts => ({
      ...now(),
      run_steps: steps + calls,
      run_cost_usd: cost + children_cost,
      turn_steps: turn.steps + calls,
      turn_tokens: turn.tokens,
    }),
    pot: (): Pot => ({
      allowed: budgetOf(run).max_cost_usd,
      spent: cost + children_cost,
      reserved: in_flight.usd,
    }),
    inFlight: () => in_flight.calls,
    responded({ usage }: Pick<ModelResponse, 'usage'>) {
      steps++
      cost += Number(usage.cost_usd ?? 0)
    },
    charged(charge: Pick<Reservation, 'cost_usd'>) {
      cost += Number(charge.cost_usd ?? 0)
    },
    childrenCost(usd: number) {
      children_cost = usd
    },
    callsInFlight(calls: number, usd: number) {
      in_flight = { calls, usd }
    },
  }
}

/**
 * Returns a function to call after each reservation of a run is recorded: the limit of a shared pot that does
 * not cover it. Null: all do, or there are none.
 */
function watchSharedPots(db: Db, { organization_id, id }: RunRow): () => Promise<LimitReached | null> {
  let no_pot_until = 0
  return async () => {
    if (performance.now() < no_pot_until) return null
    const pots = await sharedPots(db, organization_id, id, 'of_calls')
    if (pots.length === 0) no_pot_until = performance.now() + NO_POT_MS
    const short = overdrawn(pots)
    return short === null ? null : { kind: 'budget', ...short }
  }
}

/**
 * The times of a turn. The claim set `updated_at`: durations before it are by the clock of the database,
 * later ones by `worked_ms`.
 */
function timesOf(run: RunRow, worked_ms: () => number) {
  const requested_ms_ago = run.updated_at.getTime() - run.turn_started_at.getTime()
  const deadline_in_ms = deadlineAfterClaim(run)
  const left_ms = () => (deadline_in_ms === null ? Number.POSITIVE_INFINITY : deadline_in_ms - worked_ms())
  return {
    left_ms,
    now: () => ({
      run_active_ms: run.active_ms + worked_ms(),
      turn_wall_ms: requested_ms_ago + worked_ms(),
      turn_active_ms: run.turn_active_ms + worked_ms(),
    }),
    /** Seconds of the turn that have passed; 0 without a deadline. */
    turnSeconds: (turn_wall_seconds: number) =>
      deadline_in_ms === null ? 0 : turn_wall_seconds - Math.floor(left_ms() / 1_000),
  }
}

/** Null: the agent has received all of these notices. */
function newNotice(near: ReturnType<typeof nearLimits>, noticed: Set<string>): PlannedCall['notice'] {
  const limits = near.filter(limit => !noticed.has(noticeKey(limit)))
  for (const limit of limits) noticed.add(noticeKey(limit))
  const message: ModelMessage = { role: 'user', content: noticeText(limits) }
  return limits.length === 0 ? null : { limits, message }
}
