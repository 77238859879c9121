import type { ModelApi } from '../contract/model-settings.ts'
import { tokenCount } from '../core/runs/budget/token-count.ts'
import type { CountedTokens } from '../model/port.ts'

type Json = Record<string, unknown>

/**
 * Returns the tokens that a message of a provider reports, on top of those of earlier messages of the same
 * response; null: no tokens so far. A usage without a number of input and output tokens reports nothing: as
 * 0 it would make the call free, and what is not reported is estimated.
 */
export function addUsage(
  api: ModelApi,
  message: unknown,
  before: CountedTokens | null,
): CountedTokens | null {
  return isObject(message) ? readers[api](message, before) : before
}

const readers: Record<ModelApi, (message: Json, before: CountedTokens | null) => CountedTokens | null> = {
  'openai-chat': ({ usage }, before) => openai(usage, 'prompt_tokens', 'completion_tokens') ?? before,
  'openai-responses'(message, before) {
    // The last event of a stream has the response, which is the whole body without one.
    const response = isObject(message.response) ? message.response : message
    return openai(response.usage, 'input_tokens', 'output_tokens') ?? before
  },
  'anthropic-messages'(message, before) {
    const usage = isObject(message.message) ? message.message.usage : message.usage
    if (!isObject(usage) || (before === null && tokenCount(usage.input_tokens) === null)) return before
    // A later event repeats the counts that have changed.
    const of = (name: string, known: number) => tokenCount(usage[name]) ?? known
    const [cached, written] = [before?.cached_tokens ?? 0, before?.cache_write_tokens ?? 0]
    const cached_tokens = of('cache_read_input_tokens', cached)
    const cache_write_tokens = of('cache_creation_input_tokens', written)
    const fresh = of('input_tokens', (before?.input_tokens ?? 0) - cached - written)
    return {
      input_tokens: fresh + cached_tokens + cache_write_tokens,
      cached_tokens,
      cache_write_tokens,
      output_tokens: of('output_tokens', before?.output_tokens ?? 0),
    }
  },
  'google-generate-content'({ usageMetadata: usage }, before) {
    if (!isObject(usage)) return before
    const input_tokens = tokenCount(usage.promptTokenCount)
    // Without output its count is left out.
    if (input_tokens === null || tokenCount(usage.candidatesTokenCount ?? 0) === null) return before
    return {
      input_tokens,
      cached_tokens: tokens(usage.cachedContentTokenCount),
      cache_write_tokens: 0,
      output_tokens: tokens(usage.candidatesTokenCount) + tokens(usage.thoughtsTokenCount),
    }
  },
}

function openai(usage: unknown, input: string, output: string): CountedTokens | null {
  if (!isObject(usage)) return null
  const [input_tokens, output_tokens] = [tokenCount(usage[input]), tokenCount(usage[output])]
  if (input_tokens === null || output_tokens === null) return null
  const details = usage[`${input}_details`]
  const cached_tokens = isObject(details) ? tokens(details.cached_tokens) : 0
  return { input_tokens, output_tokens, cached_tokens, cache_write_tokens: 0 }
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const tokens = (value: unknown): number => tokenCount(value) ?? 0
