import type { ModelApi } from '../contract/model-settings.ts'
import type { ReasoningEffort } from '../contract/reasoning-efforts.ts'
import { THINKING_TOKENS } from '../core/runs/budget/output-limit.ts'
import type { ProviderOptions } from './cache-marks.ts'
import { olderClaudeOutput } from './described-model.ts'

/**
 * What a call to the SDK gets about thinking. `reasoning` is the effort that the SDK writes in the words of
 * the provider and model.
 */
export type Thinking = { reasoning?: ReasoningEffort; maxOutputTokens: number; options: ProviderOptions }

/**
 * Claude up to 4.5, and other models behind its API: they think up to a number of tokens, and do not choose
 * it themselves.
 */
const CLAUDE_BY_ITSELF = /claude-(?!instant|v?2|3|(?:opus|sonnet|haiku)-4(?:[-.@][0-5](?!\d)|[-@]\d{8}|$))/
const GEMINI_BUDGETS: [RegExp, number][] = [
  [/gemini-2\.5-pro/, 32_768],
  [/gemini-2/, 24_576],
]
/** Anthropic's smallest. */
const MIN_BUDGET = 1_024
/** Thinks between tool calls as well, as later models do by themselves. */
const INTERLEAVED = 'interleaved-thinking-2025-05-14'

/**
 * Returns the settings of a call whose response, thinking included, has at most `max_output_tokens`; `effort`
 * null: the provider decides.
 */
export function thinkingOf(
  api: ModelApi,
  name: string,
  effort: ReasoningEffort | null,
  max_output_tokens: number,
): Thinking {
  const plain = { maxOutputTokens: max_output_tokens, options: {} }
  if (effort === null) return plain
  const budget = (limit: number, longest = max_output_tokens) =>
    Math.min(THINKING_TOKENS[effort], limit, Math.floor(longest / 2))
  if (api === 'anthropic-messages' && !CLAUDE_BY_ITSELF.test(name)) {
    // The SDK lowers the limit of the response to the model's own, and leaves a budget that would then exceed
    // it.
    const longest = Math.min(max_output_tokens, olderClaudeOutput(name) ?? max_output_tokens)
    const budgetTokens = budget(Number.POSITIVE_INFINITY, longest)
    if (budgetTokens < MIN_BUDGET) return { ...plain, reasoning: 'none' }
    const anthropic = {
      thinking: { type: 'enabled', budgetTokens },
      ...(name.includes('claude-') && { anthropicBeta: [INTERLEAVED] }),
    }
    // The SDK adds the budget to the limit of the response.
    return { maxOutputTokens: longest - budgetTokens, options: { anthropic } }
  }
  if (api === 'google-generate-content') {
    if (effort === 'none') return { ...plain, reasoning: effort }
    const [, limit] = GEMINI_BUDGETS.find(([names]) => names.test(name)) ?? []
    const thinkingConfig = {
      includeThoughts: true,
      ...(limit !== undefined && { thinkingBudget: budget(limit) }),
    }
    return { ...plain, reasoning: effort, options: { google: { thinkingConfig } } }
  }
  if (api === 'openai-responses' && effort !== 'none')
    return { ...plain, reasoning: effort, options: { openai: { reasoningSummary: 'auto' } } }
  return { ...plain, reasoning: effort }
}
