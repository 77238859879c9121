import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createAiSdkModel } from './ai-sdk.ts'
import { knownModel } from './model-prices.ts'
import type { Model } from './port.ts'

export type ProviderOptions = {
  anthropic?: { api_key: string; base_url?: string }
  openai?: { api_key: string; base_url?: string }
  google?: { api_key: string; base_url?: string }
  /** Any server that speaks chat completions: Ollama, vLLM, LM Studio, gateways. */
  openai_compatible?: { base_url: string; api_key?: string }
}

const BASE_URLS = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
}

/** Names of the three providers go into addresses, so they are one plain segment; a compatible server may call its models anything. */
const PLAIN_NAME = /^[\w.:@-]+$/

/** Claude thinks by itself from its fifth generation on; without this the thoughts come back empty. */
const THINKS_UNSEEN = /^claude-[a-z]+-5\b/

/**
 * A model of a configured provider; null without its key, and for names that cannot be models.
 * Key and address are always given: without them the SDK would read the environment.
 */
export function connectModel(options: ProviderOptions, id: string, provider: string, name: string): Model | null {
  const context_tokens = knownModel(id)?.context_tokens ?? null
  const common = { id, context_tokens, options: {}, cache_mark: null, marks_failures: true }
  const { anthropic, openai, google, openai_compatible: compatible } = options
  if (provider !== 'openai-compatible' && !PLAIN_NAME.test(name)) return null
  if (provider === 'anthropic' && anthropic) {
    const [apiKey, baseURL] = [anthropic.api_key, anthropic.base_url ?? BASE_URLS.anthropic]
    return createAiSdkModel({
      ...common,
      connect: fetch => createAnthropic({ apiKey, baseURL, fetch })(name),
      options: THINKS_UNSEEN.test(name) ? { anthropic: { thinking: { type: 'adaptive', display: 'summarized' } } } : {},
      cache_mark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
      secrets: [apiKey],
    })
  }
  if (provider === 'openai' && openai) {
    const [apiKey, baseURL] = [openai.api_key, openai.base_url ?? BASE_URLS.openai]
    return createAiSdkModel({
      ...common,
      connect: fetch => createOpenAI({ apiKey, baseURL, fetch })(name),
      // The journal is the only store: nothing is kept at the provider, and every call carries the whole conversation.
      options: { openai: { store: false } },
      marks_failures: false,
      secrets: [apiKey],
    })
  }
  if (provider === 'google' && google) {
    const [apiKey, baseURL] = [google.api_key, google.base_url ?? BASE_URLS.google]
    return createAiSdkModel({ ...common, connect: fetch => createGoogle({ apiKey, baseURL, fetch })(name), secrets: [apiKey] })
  }
  if (provider === 'openai-compatible' && compatible && name !== '') {
    const settings = {
      name: 'openai-compatible',
      baseURL: compatible.base_url,
      includeUsage: true,
      ...(compatible.api_key ? { apiKey: compatible.api_key } : {}),
    }
    return createAiSdkModel({
      ...common,
      connect: fetch => createOpenAICompatible({ ...settings, fetch })(name),
      secrets: compatible.api_key ? [compatible.api_key] : [],
    })
  }
  return null
}
