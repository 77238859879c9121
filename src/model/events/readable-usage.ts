import { tokenCount } from '../../core/runs/budget/token-count.ts'

/** Names of counts in every wire format: `prompt_tokens`, `cached_tokens`, `promptTokenCount`. */
const COUNT = /(?:tokens|TokenCount)$/
/** What the SDK reads as objects, and as texts. */
const DETAILS = /details$/i
const WORD = /(?:tier|type)$/i
const MAX_DEPTH = 3

/** For a count that was not reported, where the SDK requires a number. */
export const NOT_REPORTED = -1

/**
 * Returns the usage of a response with whole numbers, as the SDK's schemas require: gateways report fractions
 * after a hit in a cache, or numbers as text. What has another type than the SDK requires is left out, and a
 * count then estimated: what a response costs never decides whether it counts. So are lists, which divide the
 * same counts by kinds of content or by steps. Null: there is no usage.
 */
export function readableUsage(usage: unknown, depth = 0): Record<string, unknown> | null {
  if (typeof usage !== 'object' || usage === null || Array.isArray(usage) || depth > MAX_DEPTH) return null
  const entries = Object.entries(usage).flatMap(([name, value]): [string, unknown][] => {
    const readable = COUNT.test(name) ? tokenCount(value) : readableField(name, value, depth)
    return readable === null ? [] : [[name, readable]]
  })
  return Object.fromEntries(entries)
}

function readableField(name: string, value: unknown, depth: number): unknown {
  if (typeof value === 'object') return readableUsage(value, depth + 1)
  if (DETAILS.test(name) || (WORD.test(name) && typeof value !== 'string')) return null
  return value
}
