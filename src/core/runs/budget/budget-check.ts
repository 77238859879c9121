import { plainDecimal } from '../../text/plain-decimal.ts'

/** Ceilings of the service for one turn: reaching one ends the run (specification.md#run-status). */
export type Ceilings = { max_steps: number; max_tokens: number; max_active_ms: number }

/** Limits that the caller gave for the whole run: reaching one pauses it. */
export type RunBudget = {
  max_cost_usd: string | null
  max_steps: number | null
  max_active_seconds: number | null
  max_wall_seconds: number | null
}

export type Spent = {
  run_steps: number
  run_cost_usd: number
  run_active_ms: number
  /** Since the turn was requested. */
  turn_wall_ms: number
  turn_steps: number
  turn_tokens: number
  turn_active_ms: number
}

export type LimitReached =
  | { kind: 'budget'; limit: keyof RunBudget | 'budget_usd_per_month'; message: string }
  | { kind: 'ceiling'; reason: 'max_steps' | 'out_of_tokens' | 'timeout'; message: string }

const CACHED_SHARE = 0.1

/**
 * Returns the tokens that a response counts against the ceiling: prompt tokens from the provider's cache count a tenth, which is about
 * their price.
 */
export const countedTokens = (usage: { input_tokens: number; output_tokens: number; cached_tokens: number }): number =>
  usage.input_tokens + usage.output_tokens - Math.floor(usage.cached_tokens * (1 - CACHED_SHARE))

/** Checks the limits before every model call. Returns null when the run may continue. */
export function limitReached(spent: Spent, budget: RunBudget, ceilings: Ceilings): LimitReached | null {
  if (budget.max_steps !== null && spent.run_steps >= budget.max_steps)
    return paused('max_steps', `${spent.run_steps} steps`, budget.max_steps)
  if (budget.max_cost_usd !== null && spent.run_cost_usd >= Number(budget.max_cost_usd))
    return paused('max_cost_usd', `${spent.run_cost_usd} USD`, budget.max_cost_usd)
  if (budget.max_active_seconds !== null && spent.run_active_ms >= budget.max_active_seconds * 1000)
    return paused('max_active_seconds', `${Math.floor(spent.run_active_ms / 1000)} s of work`, budget.max_active_seconds)
  if (budget.max_wall_seconds !== null && spent.turn_wall_ms >= budget.max_wall_seconds * 1000)
    return paused('max_wall_seconds', `${Math.floor(spent.turn_wall_ms / 1000)} s`, budget.max_wall_seconds)
  if (spent.turn_steps >= ceilings.max_steps)
    return ended(
      'max_steps',
      `the turn took ${spent.turn_steps} steps, the service allows ${ceilings.max_steps} (AGENTRUN_RUN_MAX_STEPS). Resume the run to continue with a new allowance.`,
    )
  if (spent.turn_tokens >= ceilings.max_tokens)
    return ended(
      'out_of_tokens',
      `the turn used ${spent.turn_tokens} tokens, the service allows ${ceilings.max_tokens} (AGENTRUN_RUN_MAX_TOKENS). Resume the run to continue with a new allowance.`,
    )
  if (spent.turn_active_ms >= ceilings.max_active_ms)
    return ended(
      'timeout',
      `the turn worked ${Math.floor(spent.turn_active_ms / 1000)} s, the service allows ${ceilings.max_active_ms / 1000} s (AGENTRUN_RUN_MAX_ACTIVE_SECONDS). Resume the run to continue with a new allowance.`,
    )
  return null
}

/** Checks the calls of served tools, which a program makes in a turn without calling the model: it may make as many as it may take steps. */
export function callLimitReached(calls: number, budget: RunBudget, ceilings: Ceilings): LimitReached | null {
  if (budget.max_steps !== null && calls >= budget.max_steps)
    return paused('max_steps', `${calls} calls of tools of MCP servers in this turn`, budget.max_steps)
  if (calls < ceilings.max_steps) return null
  return ended(
    'max_steps',
    `the turn made ${calls} calls of tools of MCP servers, the service allows ${ceilings.max_steps} (AGENTRUN_RUN_MAX_STEPS). Resume the run to continue with a new allowance.`,
  )
}

/** Returns the limit that the next model call may exceed. US dollars. */
export function shortOf(spent: number, reserved: number, allowed: number): LimitReached {
  const [used, call] = [spent, reserved].map(usd => Number(usd.toFixed(6)))
  return {
    kind: 'budget',
    limit: 'max_cost_usd',
    message: `The run has cost ${used} USD, its next call of the model may cost up to ${call} USD, and its budget allows max_cost_usd ${allowed}. Resume it with a larger budget to go on.`,
  }
}

/** Returns the milliseconds until the nearest time limit. A step that takes longer is interrupted then. */
export function timeLeft(
  spent: Pick<Spent, 'run_active_ms' | 'turn_wall_ms' | 'turn_active_ms'>,
  budget: RunBudget,
  ceilings: Ceilings,
): number {
  const left = [ceilings.max_active_ms - spent.turn_active_ms]
  if (budget.max_active_seconds !== null) left.push(budget.max_active_seconds * 1000 - spent.run_active_ms)
  if (budget.max_wall_seconds !== null) left.push(budget.max_wall_seconds * 1000 - spent.turn_wall_ms)
  return Math.max(0, Math.min(...left))
}

const paused = (limit: keyof RunBudget, used: string, allowed: string | number): LimitReached => ({
  kind: 'budget',
  limit,
  message: `The run used ${used} and its budget allows ${limit} ${allowed}. Resume it with a larger budget to go on.`,
})
const ended = (reason: 'max_steps' | 'out_of_tokens' | 'timeout', message: string): LimitReached => ({ kind: 'ceiling', reason, message })

/**
 * The maximum that one model call may take: tokens, and US dollars as a decimal string; null when the price of the model is unknown.
 * `input_cost_usd`: of the input alone; absent in older records, where the price is unknown, and in charges.
 */
export type Reservation = {
  model: string
  input_tokens: number
  output_tokens: number
  cost_usd: string | null
  input_cost_usd?: string
}

/** Returns the maximum cost of calls by tokens; null when unknown. For a given input it grows linearly with the output. */
export type Price = (tokens: { input_tokens: number; output_tokens: number }) => string | null

/** A response limit below this is not worth its input: the run is paused instead. */
const MIN_OUTPUT = 1_000

/**
 * Reserves the worst case of a call before it starts, with a shorter response if only that fits into `left_usd` (null: no limit). `fits`
 * false: not even the shortest sensible response fits, and `reservation` is what it would take.
 */
export function reserve(
  call: { model: string; input_tokens: number; max_output_tokens: number },
  price: Price,
  left_usd: number | null,
): { fits: boolean; reservation: Reservation } {
  const { model, input_tokens, max_output_tokens } = call
  const input_cost_usd = price({ input_tokens, output_tokens: 0 })
  const of = (output_tokens: number): Reservation => ({
    model,
    input_tokens,
    output_tokens,
    cost_usd: price({ input_tokens, output_tokens }),
    ...(input_cost_usd !== null && { input_cost_usd }),
  })
  const fits = ({ cost_usd }: Reservation) => left_usd === null || cost_usd === null || Number(cost_usd) <= left_usd
  const maximum = of(max_output_tokens)
  if (left_usd === null || fits(maximum)) return { fits: true, reservation: maximum }
  const minimum = of(Math.min(MIN_OUTPUT, max_output_tokens))
  if (!fits(minimum)) return { fits: false, reservation: minimum }
  const per_token = (Number(maximum.cost_usd) - Number(minimum.cost_usd)) / (maximum.output_tokens - minimum.output_tokens)
  const lowered = of(minimum.output_tokens + Math.floor((left_usd - Number(minimum.cost_usd)) / per_token))
  // The price may not be exactly linear; the limit holds even then.
  return { fits: true, reservation: fits(lowered) ? lowered : minimum }
}

/** Output that was not received: hidden reasoning, and tokens in transit. */
const UNSEEN_OUTPUT = 1_000
const CHARACTERS_A_TOKEN = 2
/** More than most models write. */
const TOKENS_A_SECOND = 200

/** Returns the charge for a call that broke off after that many characters of its response: never more than its reservation. */
export function chargeOfBroken(reservation: Reservation, price: Price, seen_characters: number): Reservation {
  const { model, input_tokens } = reservation
  const output_tokens = Math.min(reservation.output_tokens, Math.ceil(seen_characters / CHARACTERS_A_TOKEN) + UNSEEN_OUTPUT)
  return { model, input_tokens, output_tokens, cost_usd: price({ input_tokens, output_tokens }) }
}

/**
 * Returns the charge for a call that was lost with its worker that many milliseconds after its start: what was sent, and what a model writes in
 * that time. Never more than its reservation, and all of it where the cost of the input is unknown.
 */
export function chargeOfLost(reservation: Reservation, ms: number): Reservation {
  const { model, input_tokens, cost_usd, input_cost_usd } = reservation
  const output_tokens = Math.min(reservation.output_tokens, Math.ceil((Math.max(0, ms) / 1_000) * TOKENS_A_SECOND) + UNSEEN_OUTPUT)
  if (cost_usd === null) return { model, input_tokens, output_tokens, cost_usd }
  if (input_cost_usd === undefined) return reservation
  const output_cost = (Number(cost_usd) - Number(input_cost_usd)) * (output_tokens / reservation.output_tokens)
  const cost = Math.min(Number(cost_usd), Number(input_cost_usd) + output_cost)
  return { model, input_tokens, output_tokens, cost_usd: plainDecimal(cost.toFixed(12)) }
}
