import type { ReasoningEffort } from '../../../contract/reasoning-efforts.ts'

/** For the text and the tool calls of one response. More would count against rate limits that reserve it. */
const TEXT_TOKENS = 32_000
/** For the thinking before it. */
export const THINKING_TOKENS: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 2_000,
  low: 8_000,
  medium: 16_000,
  high: 32_000,
  xhigh: 64_000,
  max: 96_000,
}
/**
 * An estimated input is rather too large, so a window that looks full gets this much: the provider names what
 * really fits.
 */
const MIN_TOKENS = 4_000

/**
 * Returns the longest response to request, in tokens: what text and thinking need, the model allows and its
 * window leaves.
 */
export function outputLimit(
  model: {
    context_tokens: number | null
    max_output_tokens: number | null
    reasoning_effort: ReasoningEffort | null
  },
  effort: ReasoningEffort | null,
  input_tokens: number,
): number {
  const wanted = TEXT_TOKENS + THINKING_TOKENS[effort ?? model.reasoning_effort ?? 'none']
  const left =
    model.context_tokens === null ? wanted : Math.max(model.context_tokens - input_tokens, MIN_TOKENS)
  return Math.min(wanted, left, model.max_output_tokens ?? wanted)
}
