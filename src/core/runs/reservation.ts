/** What one call of a model may take at most: tokens, and US dollars as a decimal string; null when the price of the model is unknown. */
export type Reservation = { model: string; input_tokens: number; output_tokens: number; cost_usd: string | null }

/** What calls cost at most, by tokens; null when nobody knows. For a given input it grows evenly with the output. */
export type Price = (tokens: { input_tokens: number; output_tokens: number }) => string | null

/** An answer that may be shorter than this is not worth its input: then the run is held instead. */
const LEAST_OUTPUT = 1_000

/**
 * Sets aside the worst case of a call before it is made, with a shorter answer where that is what still fits into `left_usd` (null: no
 * limit). `fits` false: not even the shortest sensible answer does, and `reservation` is what that would take.
 */
export function reserve(
  call: { model: string; input_tokens: number; max_output_tokens: number },
  price: Price,
  left_usd: number | null,
): { fits: boolean; reservation: Reservation } {
  const { model, input_tokens, max_output_tokens } = call
  const of = (output_tokens: number): Reservation => ({
    model,
    input_tokens,
    output_tokens,
    cost_usd: price({ input_tokens, output_tokens }),
  })
  const fits = ({ cost_usd }: Reservation) => left_usd === null || cost_usd === null || Number(cost_usd) <= left_usd
  const most = of(max_output_tokens)
  if (left_usd === null || fits(most)) return { fits: true, reservation: most }
  const least = of(Math.min(LEAST_OUTPUT, max_output_tokens))
  if (!fits(least)) return { fits: false, reservation: least }
  const per_token = (Number(most.cost_usd) - Number(least.cost_usd)) / (most.output_tokens - least.output_tokens)
  const lowered = of(least.output_tokens + Math.floor((left_usd - Number(least.cost_usd)) / per_token))
  // A price that is not quite a straight line after all must not break the limit.
  return { fits: true, reservation: fits(lowered) ? lowered : least }
}

/** Output that nobody saw come: reasoning that is not shown, and what was on its way. */
const UNSEEN_OUTPUT = 1_000
const CHARACTERS_A_TOKEN = 2

/** What is counted for a call that broke off after so many characters of its answer: never more than was set aside for it. */
export function chargeOfBroken(reservation: Reservation, price: Price, seen_characters: number): Reservation {
  const { model, input_tokens } = reservation
  const output_tokens = Math.min(reservation.output_tokens, Math.ceil(seen_characters / CHARACTERS_A_TOKEN) + UNSEEN_OUTPUT)
  return { model, input_tokens, output_tokens, cost_usd: price({ input_tokens, output_tokens }) }
}
