import type { ReasoningEffort } from '../contract/reasoning-efforts.ts'
import { type NamedLimits, namedLimits, refusesEffort } from './named-limits.ts'
import type { ModelError, ModelRequest } from './port.ts'

/** What refusals taught about the models of a service, by id, until it ends. */
export type LearnedModels = Map<string, LearnedLimits>
type LearnedLimits = {
  context_tokens: number | null
  max_output_tokens: number | null
  refused_efforts: ReadonlySet<ReasoningEffort>
}

/** A smaller window or response cannot be worked with: nothing is learned from it. */
const MIN_CONTEXT = 4_000
const MIN_OUTPUT = 1_000
const REFUSALS = [400, 413, 422]

export const nothing_learned: LearnedLimits = {
  context_tokens: null,
  max_output_tokens: null,
  refused_efforts: new Set(),
}

type SentRequest = Pick<ModelRequest, 'max_output_tokens'> & {
  effort: ReasoningEffort | null
  input_estimate: () => number
}

/**
 * `retry`: what the same request must have instead, `effort` null for none; null: it would be refused again.
 */
export type Lesson =
  | { kind: 'limit'; learned: LearnedLimits; retry: Retry | null }
  /** The refusal was about the effort if the retry succeeds. */
  | { kind: 'effort'; retry: Retry }
type Retry = { max_output_tokens: number; effort: ReasoningEffort | null }

/** Returns what the refusal of a request teaches; null: nothing. */
export function lessonOf(error: ModelError, sent: SentRequest, before: LearnedLimits): Lesson | null {
  if (error.http_status === null || !REFUSALS.includes(error.http_status)) return null
  const named = namedLimits(error.message)
  const { max_output_tokens, effort } = sent
  const window = named.context_tokens ?? named.max_input_tokens
  if (named.max_output_tokens !== undefined || window !== undefined) {
    const smaller = smallerOutput(named, sent)
    // What is not below the request cannot be why it was refused.
    const below = named.max_output_tokens !== undefined && named.max_output_tokens < max_output_tokens
    const learned = {
      ...before,
      context_tokens: atLeast(window, MIN_CONTEXT) ?? before.context_tokens,
      max_output_tokens:
        (below ? atLeast(named.max_output_tokens, MIN_OUTPUT) : null) ?? before.max_output_tokens,
    }
    const retry =
      smaller < max_output_tokens && smaller >= MIN_OUTPUT ? { max_output_tokens: smaller, effort } : null
    return { kind: 'limit', learned, retry }
  }
  if (effort === null || !refusesEffort(error.message)) return null
  return { kind: 'effort', retry: { max_output_tokens, effort: null } }
}

export function withRefused(learned: LearnedLimits, effort: ReasoningEffort): LearnedLimits {
  return { ...learned, refused_efforts: new Set([...learned.refused_efforts, effort]) }
}

/**
 * Some servers need one token more than the sum; where a server has not counted the input, the estimate may
 * be too large.
 */
function smallerOutput(
  { max_output_tokens, context_tokens, ...named }: NamedLimits,
  sent: SentRequest,
): number {
  const limit = Math.min(max_output_tokens ?? sent.max_output_tokens, sent.max_output_tokens)
  if (context_tokens === undefined) return limit
  const requested = (named.requested_tokens ?? 0) - sent.max_output_tokens
  const input_tokens = named.input_tokens ?? (requested > 0 ? requested : undefined)
  const left =
    input_tokens === undefined
      ? Math.max(context_tokens - sent.input_estimate(), MIN_OUTPUT)
      : context_tokens - input_tokens - 1
  return Math.min(limit, left)
}

const atLeast = (value: number | undefined, minimum: number): number | null =>
  value !== undefined && value >= minimum ? value : null
