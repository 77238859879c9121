import { plainDecimal } from '../../text/plain-decimal.ts'

/**
 * An amount to spend, in decimal strings where it comes from the database. What may cost something reserves
 * its worst case first and is settled by what it cost: a model call in the pot of its run and in those that
 * its run shares, a child run in the pot of its parent. `allowed` null: no limit.
 */
export type Pot = {
  allowed: string | number | null
  spent: string | number
  reserved: string | number
}

/** Null: no limit. */
export const leftIn = ({ allowed, spent, reserved }: Pot): number | null =>
  allowed === null ? null : Number(allowed) - Number(spent) - Number(reserved)

/** The smallest amount of US dollars that a budget can have. */
const MIN_USD = 1e-6
/** The rounding error of a floating-point division. */
const ROUNDING = 1e-6

/**
 * Returns what a child run may reserve of the pot of its parent: the requested amount or half of the rest, in
 * US dollars as a decimal string. `usd` null: neither limits it.
 */
export function share(pot: Pot, requested_usd: number | null): { usd: string | null } | 'nothing' {
  const rest = leftIn(pot)
  if (rest !== null && rest < MIN_USD) return 'nothing'
  const usd = rest === null ? requested_usd : Math.min(requested_usd ?? rest / 2, rest)
  // Rounded down, so that all children together never exceed the budget.
  return {
    usd: usd === null ? null : plainDecimal((Math.floor(usd / MIN_USD + ROUNDING) * MIN_USD).toFixed(6)),
  }
}

/** Returns why the pot of a run is too small for its next call of a model. US dollars. */
export function shortOf({ allowed, spent }: Pot, call_usd: number): string {
  const [used, call] = [Number(spent), call_usd].map(usd => Number(usd.toFixed(6)))
  return `The run has cost ${used} USD, its next call of the model may cost up to ${call} USD, and its budget allows max_cost_usd ${Number(allowed)}. Resume it with a larger budget to continue.`
}

/**
 * The pots that runs share: src/store/access/shared-pots.ts reads them. A pot has the name of the setting
 * that fills it.
 */
export type SharedPotName = 'budget_usd_per_month' | 'runs_per_month'
export type SharedPot = { limit: SharedPotName; allowed: string; spent: string; reserved: string }

/**
 * `spent_by`: calls of models, each of which is reserved; or runs, when they are created. `usedUp`: why no
 * turn may begin. `overdrawn`: why a run must pause.
 */
type SharedPotRule = { usedUp(pot: SharedPot): string } & (
  | { spent_by: 'runs' }
  | { spent_by: 'calls'; overdrawn(pot: SharedPot): string }
)

/** In the order of their check. */
export const shared_pots: Record<SharedPotName, SharedPotRule> = {
  budget_usd_per_month: {
    spent_by: 'calls',
    usedUp: ({ spent, allowed }) =>
      `This month (UTC) has cost ${spent} US dollars of the organization's budget of ${allowed} (budget_usd_per_month).`,
    overdrawn: ({ spent, reserved, allowed }) =>
      `This month (UTC) has cost ${spent} US dollars and its calls in progress may cost up to ${reserved} more, of ${allowed} that the organization may spend (budget_usd_per_month). The run can be resumed when there is more.`,
  },
  runs_per_month: {
    spent_by: 'runs',
    usedUp: ({ allowed }) =>
      `The ${allowed} runs that the organization may create in this month (UTC) are used up (runs_per_month).`,
  },
}

/**
 * Returns why no turn may begin. `created`: how many runs the caller has created itself; null: the number of
 * runs does not matter.
 */
export function usedUp(pots: readonly SharedPot[], created: number | null): string | null {
  for (const pot of inOrder(pots)) {
    const rule = shared_pots[pot.limit]
    const own = rule.spent_by === 'runs' ? created : 0
    if (own !== null && Number(pot.spent) - own >= Number(pot.allowed)) return rule.usedUp(pot)
  }
  return null
}

/**
 * Returns the pot that does not cover what was spent and is reserved. To be called after a call was reserved:
 * of two concurrent runs at least one sees both reservations.
 */
export function overdrawn(pots: readonly SharedPot[]): { limit: SharedPotName; message: string } | null {
  for (const pot of inOrder(pots)) {
    const rule = shared_pots[pot.limit]
    const covered = Number(pot.spent) + Number(pot.reserved) <= Number(pot.allowed)
    if (rule.spent_by === 'calls' && !covered) return { limit: pot.limit, message: rule.overdrawn(pot) }
  }
  return null
}

const inOrder = (pots: readonly SharedPot[]): SharedPot[] =>
  Object.keys(shared_pots).flatMap(name =>
    pots
      .filter(({ limit }) => limit === name)
      .map(pot => ({
        ...pot,
        allowed: plainDecimal(pot.allowed),
        spent: plainDecimal(pot.spent),
        reserved: plainDecimal(pot.reserved),
      })),
  )

/**
 * The maximum that one model call may take: tokens, and US dollars as a decimal string; null when the price
 * of the model is unknown. `input_cost_usd`: of the input alone; absent in older records, where the price is
 * unknown, and in charges.
 */
export type Reservation = {
  model: string
  input_tokens: number
  output_tokens: number
  cost_usd: string | null
  input_cost_usd?: string
}

/**
 * Returns the maximum cost of calls by tokens; null when unknown. For a given input it grows linearly with
 * the output.
 */
export type Price = (tokens: { input_tokens: number; output_tokens: number }) => string | null

/** A response limit below this is not worth its input: the run is paused instead. */
const MIN_OUTPUT = 1_000

/**
 * Reserves the worst case of a call before it starts, with a shorter response if only that fits into
 * `left_usd` (null: no limit). `fits` false: not even the shortest sensible response fits, and `reservation`
 * is what it would take.
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
  const fits = ({ cost_usd }: Reservation) =>
    left_usd === null || cost_usd === null || Number(cost_usd) <= left_usd
  const maximum = of(max_output_tokens)
  if (left_usd === null || fits(maximum)) return { fits: true, reservation: maximum }
  const minimum = of(Math.min(MIN_OUTPUT, max_output_tokens))
  if (!fits(minimum)) return { fits: false, reservation: minimum }
  const per_token =
    (Number(maximum.cost_usd) - Number(minimum.cost_usd)) / (maximum.output_tokens - minimum.output_tokens)
  const lowered = of(minimum.output_tokens + Math.floor((left_usd - Number(minimum.cost_usd)) / per_token))
  // The price may not be exactly linear; the limit holds even then.
  return { fits: true, reservation: fits(lowered) ? lowered : minimum }
}

/** Output that was not received: hidden reasoning, and tokens in transit. */
const UNSEEN_OUTPUT = 1_000
const CHARACTERS_A_TOKEN = 2
/** More than most models write. */
const TOKENS_A_SECOND = 200

/**
 * Returns the charge for a call that broke off after that many characters of its response: never more than
 * its reservation.
 */
export function chargeOfBroken(reservation: Reservation, price: Price, seen_characters: number): Reservation {
  const { model, input_tokens } = reservation
  const output_tokens = Math.min(
    reservation.output_tokens,
    Math.ceil(seen_characters / CHARACTERS_A_TOKEN) + UNSEEN_OUTPUT,
  )
  return { model, input_tokens, output_tokens, cost_usd: price({ input_tokens, output_tokens }) }
}

/**
 * Returns the charge for a call that was lost with its worker that many milliseconds after its start: what
 * was sent, and what a model writes in that time. Never more than its reservation, and all of it where the
 * cost of the input is unknown.
 */
export function chargeOfLost(reservation: Reservation, ms: number): Reservation {
  const { model, input_tokens, cost_usd, input_cost_usd } = reservation
  const output_tokens = Math.min(
    reservation.output_tokens,
    Math.ceil((Math.max(0, ms) / 1_000) * TOKENS_A_SECOND) + UNSEEN_OUTPUT,
  )
  if (cost_usd === null) return { model, input_tokens, output_tokens, cost_usd }
  if (input_cost_usd === undefined) return reservation
  const output_cost =
    (Number(cost_usd) - Number(input_cost_usd)) * (output_tokens / reservation.output_tokens)
  const cost = Math.min(Number(cost_usd), Number(input_cost_usd) + output_cost)
  return { model, input_tokens, output_tokens, cost_usd: plainDecimal(cost.toFixed(12)) }
}
