import type { Pricing } from './model-prices.ts'
import type { CountedTokens } from './port.ts'

/**
 * Returns what a call at the time `now` (ms) cost in US dollars, as an exact decimal string without trailing
 * zeros. Null when the price of the model is unknown: an unknown cost is never 0.
 */
export function costUsd(pricing: Pricing | null, tokens: CountedTokens, now: number): string | null {
  if (!pricing) return null
  const { later } = pricing
  const price = later && now >= Date.parse(later.from) ? later.price : pricing.price
  const { long } = price
  const rate = long && tokens.input_tokens > long.over_tokens ? long : price
  const fresh = Math.max(tokens.input_tokens - tokens.cached_tokens - tokens.cache_write_tokens, 0)
  const picodollars =
    BigInt(fresh) * microdollars(rate.input) +
    BigInt(tokens.cached_tokens) * microdollars(rate.cached) +
    BigInt(tokens.cache_write_tokens) * microdollars(rate.cache_write) +
    BigInt(tokens.output_tokens) * microdollars(rate.output)
  const digits = picodollars.toString().padStart(13, '0')
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?(?<!0)0+$/, '')
}

/**
 * Returns the maximum cost of a call, in US dollars: none of its input is in a cache, and all of it is
 * written to one. Null: the price is unknown.
 */
export function maxCostUsd(
  pricing: Pricing | null,
  tokens: { input_tokens: number; output_tokens: number },
  now: number,
): string | null {
  const fresh = costUsd(pricing, { ...tokens, cached_tokens: 0, cache_write_tokens: 0 }, now)
  const written = costUsd(
    pricing,
    { ...tokens, cached_tokens: 0, cache_write_tokens: tokens.input_tokens },
    now,
  )
  return Number(fresh) > Number(written) ? fresh : written
}

/**
 * "0.125" dollars are 125,000 microdollars; times tokens, for a price of a million tokens, that is
 * picodollars.
 */
function microdollars(dollars: string): bigint {
  const [whole = '0', fraction = ''] = dollars.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}
