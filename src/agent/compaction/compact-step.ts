import { countedTokens } from '../../core/runs/budget/limits.ts'
import type { TurnOutcome } from '../../core/runs/outcome.ts'
import { truncateText } from '../../core/text/truncate.ts'
import { ModelError, type ModelMessage, type ModelUsage } from '../../model/port.ts'
import type { LoopInput, LoopState } from '../loop-state.ts'
import { afterFailedCall, callRecorded } from '../recorded-call.ts'
import { type CompactionChoice, chooseCompaction, SUMMARY_SHARE } from './choose-compaction.ts'
import { applyCompaction, type Compaction, type CompactionCause, callsOf, resultsOf } from './compaction.ts'
import { SUMMARY_REQUEST, serviceSummary, summaryOf } from './summary.ts'

/**
 * The longest response that writes a summary, its reasoning included, and the shortest that is worth the
 * call.
 */
const MAX_OUTPUT_TOKENS = 32_000
const MIN_OUTPUT_TOKENS = 4_000
/**
 * Refused again, or if nothing else helps, only the messages of people and a summary stay; refused even then,
 * the run ends.
 */
const MAX_REFUSALS = 3
/** The share of a refused conversation that is taken for the limit from then on. */
const REFUSED_SHARE = 0.8
/** The factor by which an estimate may be too high. */
const MAX_OVERESTIMATE = 2
const CHARS_A_TOKEN = 3

/**
 * Returns whether the conversation has reached its limit, and compacting it frees enough. A script never sees
 * what a compaction would change.
 */
export function mustCompact(input: LoopInput, state: LoopState, messages: ModelMessage[]): boolean {
  if (input.model.scripted || input.context.estimate.of(messages) < limitOf(input, state)) return false
  return choiceFor(input, state, messages) !== null
}

/**
 * Compacts a conversation that the provider refused as too long. Fails when nothing is left that could be
 * removed.
 */
export async function compactAfterRefusal(
  input: LoopInput,
  state: LoopState,
  error: ModelError,
  signal: AbortSignal,
): Promise<TurnOutcome | 'continue'> {
  const { estimate } = input.context
  const refused = Math.max(estimate.of(state.messages), estimate.measured(state.messages) / MAX_OVERESTIMATE)
  state.refusals++
  state.refused_tokens = Math.min(state.refused_tokens, Math.floor(REFUSED_SHARE * refused))
  if (state.refusals > MAX_REFUSALS || choiceFor(input, state, state.messages) === null)
    return afterFailedCall(input, state, error)
  return compactConversation(input, state, 'refused', signal)
}

/** Compacts the conversation: records what changes, and continues with the result. */
export async function compactConversation(
  input: LoopInput,
  state: LoopState,
  cause: CompactionCause,
  signal: AbortSignal,
): Promise<TurnOutcome | 'continue'> {
  const began = performance.now()
  const choice = choiceFor(input, state, state.messages)
  if (choice === null) return 'continue'
  const { clear_through, shorten_to, summarize } = choice
  const written =
    summarize === null
      ? null
      : await writeSummary(input, state, { clear_through, replaces: summarize.replaces, cause, signal })
  if (written !== null && (written === 'continue' || 'kind' in written)) return written
  const summary = written &&
    summarize && { text: written.text, by: written.by, keep_from: summarize.keep_from }
  const { estimate } = input.context
  const change = { clear_through, ...(shorten_to !== null && { shorten_to }), summary }
  const messages = applyCompaction(state.messages, change)
  const compaction: Compaction = {
    cause,
    model: input.model.id,
    limit_tokens: limitOf(input, state),
    tokens_before: Math.round(estimate.of(state.messages)),
    tokens_after: estimate.measured(messages),
    ...change,
  }
  const usage = written?.usage ?? null
  const duration_ms = performance.now() - began
  await input.journal.compacted({
    compaction,
    usage,
    replaced: replacedCalls(state.messages, messages),
    duration_ms,
  })
  if (usage !== null) {
    input.meter.charged(usage)
    state.tokens += countedTokens(usage)
  }
  state.messages = messages
  return 'continue'
}

const limitOf = ({ context }: LoopInput, { refused_tokens }: LoopState): number =>
  Math.min(context.limit(), refused_tokens)

function choiceFor(input: LoopInput, state: LoopState, messages: ModelMessage[]): CompactionChoice | null {
  const { measured: tokensOf } = input.context.estimate
  const choose = (keep_tail: boolean) =>
    chooseCompaction(messages, { limit_tokens: limitOf(input, state), tokensOf, keep_tail })
  const choice = state.refusals < MAX_REFUSALS - 1 ? choose(true) : null
  return choice === null && state.refusals > 0 ? choose(false) : choice
}

type Summary = { text: string; by: 'model' | 'service'; usage: ModelUsage | null }
type RequestedCompaction = Pick<CompactionChoice, 'clear_through'> & {
  replaces: ModelMessage[]
  cause: CompactionCause
  signal: AbortSignal
}

/**
 * Requests a summary from the model; the service writes one itself when the conversation does not fit or the
 * model gives none.
 */
async function writeSummary(
  input: LoopInput,
  state: LoopState,
  requested: RequestedCompaction,
): Promise<Summary | TurnOutcome | 'continue'> {
  const max_chars = Math.floor(SUMMARY_SHARE * limitOf(input, state) * CHARS_A_TOKEN)
  const by_service = (usage: ModelUsage | null): Summary => ({
    text: truncateText(serviceSummary(state.messages), max_chars).text,
    by: 'service',
    usage,
  })
  const source = summarySource(input, state, requested)
  if (source === null) return by_service(null)
  try {
    const called = await callRecorded(input, state, async () => {
      const planned = input.meter.planWithoutNotice(source, state)
      if (planned.kind === 'limit') return planned.limit
      await input.journal.modelStarted(planned)
      const { reservation } = planned
      return { reservation, messages: source.messages, signal: requested.signal }
    })
    if ('kind' in called) return called
    const { usage } = called.response
    const text = summaryOf(called.response)
    return text === null
      ? by_service(usage)
      : { text: truncateText(text, max_chars).text, by: 'model', usage }
  } catch (error) {
    if (error instanceof ModelError && error.code === 'context_exceeded') return by_service(null)
    return afterFailedCall(input, state, error)
  }
}

/**
 * The request for a summary: the conversation unchanged if it fits, because its prefix is cached, otherwise
 * what it replaces. Null: neither fits.
 */
function summarySource(
  { model, context: { estimate } }: LoopInput,
  state: LoopState,
  { clear_through, replaces, cause }: RequestedCompaction,
): { messages: ModelMessage[]; input_tokens: number; max_output_tokens: number } | null {
  const conversations =
    cause === 'limit' ? [state.messages, replaces] : clear_through === null ? [] : [replaces]
  for (const conversation of conversations) {
    const messages = [...conversation, SUMMARY_REQUEST]
    const input_tokens = estimate.of(messages)
    const left = (model.context_tokens ?? Number.POSITIVE_INFINITY) - input_tokens
    if (left >= MIN_OUTPUT_TOKENS)
      return { messages, input_tokens, max_output_tokens: Math.min(MAX_OUTPUT_TOKENS, left) }
  }
  return null
}

/** The calls whose results or whose whole messages a compaction removed. */
function replacedCalls(before: ModelMessage[], after: ModelMessage[]) {
  const kept = new Set(after)
  const gone = before.filter(message => !kept.has(message))
  const calls = gone.flatMap(message => [
    ...callsOf(message),
    ...resultsOf(message).map(({ toolCallId }) => toolCallId),
  ])
  const [first, last] = [calls[0], calls.at(-1)]
  if (first === undefined || last === undefined) return null
  return { first, last, results: gone.reduce((sum, message) => sum + resultsOf(message).length, 0) }
}
