import { tokenCount } from '../../core/runs/budget/token-count.ts'
import { record } from '../refusal-body.ts'

/** Names of counts in every wire format: `prompt_tokens`, `cached_tokens`, `promptTokenCount`. */
const COUNT = /(tokens|TokenCount)$/
const DETAILS = /_details$/
const MAX_DEPTH = 3

/** For a count that was not reported, where the SDK requires a number. */
export const NOT_REPORTED = -1

/**
 * Returns the usage of a response with whole numbers, as the SDK's schemas require: gateways report fractions after a hit in a cache, or numbers as
 * text. A count that is no number is left out, and then estimated: what a response costs never decides whether it counts. Null: there is no usage.
 */
export function readableUsage(usage: unknown, depth = 0): Record<string, unknown> | null {
  if (typeof usage !== 'object' || usage === null || Array.isArray(usage) || depth > MAX_DEPTH) return null
  const entries = Object.entries(record(usage)).flatMap(([name, value]): [string, unknown][] => {
    if (COUNT.test(name)) {
      const count = tokenCount(value)
      return count === null ? [] : [[name, count]]
    }
    if (typeof value !== 'object' || value === null || (Array.isArray(value) && !DETAILS.test(name))) return [[name, value]]
    const inner = readableUsage(value, depth + 1)
    return inner === null ? [] : [[name, inner]]
  })
  return Object.fromEntries(entries)
}
