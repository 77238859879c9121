/**
 * The share of a model's window that a conversation may use: the rest is for the answer and for what the
 * estimate misses.
 */
const WINDOW_SHARE = 0.8

/**
 * Returns the tokens from which on a conversation is compacted before the next model call: the configured
 * number, but at most 80 % of the window and no more than the provider charges its lower price for. A window
 * or price limit that is null does not count.
 */
export function contextLimit(
  configured: number,
  model: { context_tokens: number | null; long_prompt_tokens: number | null },
): number {
  const window = model.context_tokens === null ? configured : Math.floor(WINDOW_SHARE * model.context_tokens)
  return Math.min(configured, window, model.long_prompt_tokens ?? configured)
}
