import type { LanguageModel } from 'ai'
import type { ModelApi, ModelProvider, ModelSettings } from '../contract/model-settings.ts'
import { createAiSdkModel } from './ai-sdk.ts'
import { type ProviderOptions as CallOptions, withPartMarks } from './cache-marks.ts'
import { costUsd } from './call-cost.ts'
import { describeModel } from './described-model.ts'
import { withBoundedEvents } from './events/bounded-events.ts'
import { chatEvents } from './events/chat-events.ts'
import { withReadableEvents } from './events/event-lines.ts'
import { geminiEvents } from './events/gemini-events.ts'
import { messagesEvents } from './events/messages-events.ts'
import { responsesEvents } from './events/responses-events.ts'
import type { LearnedModels } from './learned-limits.ts'
import type { Model } from './port.ts'
import type { MessagesField } from './request/kept-prefix.ts'
import { thinkingOf } from './thinking.ts'

type Fetch = typeof globalThis.fetch

/** `fetch`: for addresses that someone else than the operator chose; absent: Node's. */
export type ProviderOptions = {
  anthropic?: { api_key: string; base_url?: string; fetch?: Fetch }
  openai?: { api_key: string; base_url?: string; fetch?: Fetch }
  google?: { api_key: string; base_url?: string; fetch?: Fetch }
  /** Any server that speaks chat completions: Ollama, vLLM, LM Studio, gateways. */
  openai_compatible?: { base_url: string; api_key?: string; fetch?: Fetch }
  /** AGENTRUN_MODELS, and those of an organization, by id. */
  models?: Record<string, ModelSettings & { fetch?: Fetch }>
}

/** Where a model is, and how it is called there. `api_key` null: the server needs none. */
type Endpoint = {
  api: ModelApi
  base_url: string
  api_key: string | null
  name: string
  fetch?: Fetch | undefined
}

const PROVIDERS = {
  anthropic: { api: 'anthropic-messages', base_url: 'https://api.anthropic.com/v1' },
  openai: { api: 'openai-responses', base_url: 'https://api.openai.com/v1' },
  google: { api: 'google-generate-content', base_url: 'https://generativelanguage.googleapis.com/v1beta' },
} as const satisfies Record<Exclude<ModelProvider, 'openai-compatible'>, { api: ModelApi; base_url: string }>

const MESSAGES_FIELDS = {
  'anthropic-messages': 'messages',
  'openai-responses': 'input',
  'openai-chat': 'messages',
  'google-generate-content': 'contents',
} as const satisfies Record<ModelApi, MessagesField>

const EVENT_READERS = {
  'anthropic-messages': messagesEvents,
  'openai-chat': chatEvents,
  'google-generate-content': geminiEvents,
} as const

/**
 * Names of the three providers go into addresses, so they are one plain segment; a compatible server may call
 * its models anything.
 */
const PLAIN_NAME = /^[\w.:@-]+$/

/**
 * Returns a model of a configured provider, or of AGENTRUN_MODELS; null without its key, and for names that
 * cannot be models.
 */
export function connectModel(options: ProviderOptions, learned: LearnedModels, id: string): Model | null {
  const settings = options.models?.[id]
  const endpoint = endpointOf(options, id, settings)
  if (endpoint === null || (endpoint.api !== 'openai-chat' && !PLAIN_NAME.test(endpoint.name))) return null
  const { api, base_url, name, api_key } = endpoint
  const described = describeModel(id, settings)
  return createAiSdkModel({
    id,
    described,
    learned,
    fetch: endpoint.fetch,
    connect: fetch => connect(endpoint, fetch),
    options: cache_key => callOptions(api, cache_key),
    thinking: (effort, max_output_tokens) => {
      const thinking = thinkingOf(api, name, effort, max_output_tokens)
      // The SDK knows by their names which models think; a deployment may have any name.
      if (api !== 'openai-responses' || settings?.api === undefined || effort === null) return thinking
      return { ...thinking, options: { openai: { ...thinking.options.openai, forceReasoning: true } } }
    },
    cache_mark: cacheMark(api, described.cache_marks),
    marks_failures: api !== 'openai-responses',
    messages_field: MESSAGES_FIELDS[api],
    freeform_tools: api === 'openai-responses',
    // Many models behind chat completions read text only, and refuse a request with an image.
    accepts_images: api !== 'openai-chat',
    secrets: api_key ? [api_key] : [],
    endpoint: {
      api,
      base_url: base_url.replace(/(?<!\/)\/+$/, ''),
      api_key,
      name,
      fetch: endpoint.fetch ?? globalThis.fetch,
      cost: tokens => costUsd(described.pricing, tokens, Date.now()),
    },
  })
}

function endpointOf(
  options: ProviderOptions,
  id: string,
  settings: (ModelSettings & { fetch?: Fetch }) | undefined,
): Endpoint | null {
  const [, provider = '', name = ''] = /^([a-z-]+)\/(\S{1,200})$/.exec(id) ?? []
  if (settings?.api !== undefined && settings.base_url !== undefined)
    return {
      api: settings.api,
      base_url: settings.base_url,
      api_key: settings.api_key ?? null,
      name: settings.name ?? name,
      fetch: settings.fetch,
    }
  if (provider === 'openai-compatible') {
    const compatible = options.openai_compatible
    return compatible
      ? {
          api: 'openai-chat',
          base_url: compatible.base_url,
          api_key: compatible.api_key ?? null,
          name,
          fetch: compatible.fetch,
        }
      : null
  }
  if (provider !== 'anthropic' && provider !== 'openai' && provider !== 'google') return null
  const configured = options[provider]
  return configured ? { ...PROVIDERS[provider], ...configured, name } : null
}

/** Key and address are always given: without them the SDK would read the environment. */
async function connect({ api, base_url, api_key, name }: Endpoint, fetch: Fetch): Promise<LanguageModel> {
  // What the Responses API repeats does not count, so it is removed first.
  const read =
    api === 'openai-responses'
      ? withBoundedEvents(withReadableEvents(fetch, responsesEvents))
      : withReadableEvents(withBoundedEvents(fetch), EVENT_READERS[api])
  const common = { apiKey: api_key ?? 'none', baseURL: base_url, fetch: read }
  switch (api) {
    case 'anthropic-messages':
      return (await import('@ai-sdk/anthropic')).createAnthropic(common)(name)
    case 'openai-responses':
      return (await import('@ai-sdk/openai')).createOpenAI(common)(name)
    case 'google-generate-content':
      return (await import('@ai-sdk/google')).createGoogle(common)(name)
    case 'openai-chat':
      return (await import('@ai-sdk/openai-compatible')).createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: base_url,
        fetch: read,
        includeUsage: true,
        transformRequestBody: withPartMarks,
        ...(api_key ? { apiKey: api_key } : {}),
      })(name)
  }
}

function callOptions(api: ModelApi, cache_key: string | undefined): CallOptions {
  if (api !== 'openai-responses') return {}
  // The journal is the only store: nothing is kept at the provider, and every call carries the whole
  // conversation.
  return { openai: { store: false, ...(cache_key !== undefined && { promptCacheKey: cache_key }) } }
}

function cacheMark(api: ModelApi, configured: boolean): CallOptions | null {
  if (api === 'anthropic-messages') return { anthropic: { cacheControl: { type: 'ephemeral' } } }
  return api === 'openai-chat' && configured
    ? { openaiCompatible: { cache_control: { type: 'ephemeral' } } }
    : null
}
