import type { ModelMessage } from 'ai'
import type { ModelApi, ModelProvider, ToolFamily } from '../contract/model-settings.ts'
import type { ReasoningEffort } from '../contract/reasoning-efforts.ts'
import type { Price } from '../core/runs/budget/pot.ts'
import { storedText } from '../core/text/stored-text.ts'

export type { ModelMessage }

/**
 * One call to a language model. The loop owns everything around it: tools run there, retries are decided
 * there, and the journal keeps the response.
 *
 * Failure contract: `call` resolves with a response, or rejects with ModelError and nothing else. It repeats
 * a request only after a refusal that names a limit, within that limit. It never prints, and after an abort
 * by `signal` rejects with code `aborted`. `partial_text` of a failed call is never shown as an answer.
 */
export interface Model {
  /** `provider/model`, as in the API. */
  readonly id: string
  /** True for models that play a script, which every view of the run shows. */
  readonly scripted: boolean
  /**
   * Tokens of context, null when unknown. A provider may name its limits in a refusal: both change between
   * calls.
   */
  readonly context_tokens: number | null
  /**
   * Tokens of a prompt above which the provider charges a higher price, null when there is one price or none
   * is known.
   */
  readonly long_prompt_tokens: number | null
  /** Tokens of the longest response, thinking included; null when unknown. */
  readonly max_output_tokens: number | null
  /** How much it thinks in a run that does not set it; null: the provider decides. */
  readonly reasoning_effort: ReasoningEffort | null
  readonly tool_family: ToolFamily
  /** Whether it is known to accept images, so that tools may return some. */
  readonly accepts_images: boolean
  /** The maximum cost of a call at current prices. */
  readonly price: Price
  /** Where its requests go, for programs that send them themselves; null: it has no address. */
  readonly endpoint: ModelEndpoint | null
  call(request: ModelRequest): Promise<ModelResponse>
}

/** All tokens of a call; `input_tokens` includes the cached and cache-written ones. */
export type CountedTokens = {
  input_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  output_tokens: number
}

/** The address of a model. Its key never leaves the service. */
export type ModelEndpoint = {
  api: ModelApi
  /** Without a slash at its end. */
  base_url: string
  api_key: string | null
  /** The name of the model in its API. */
  name: string
  fetch: typeof globalThis.fetch
  /** Returns the cost of a call in US dollars as a decimal string; null: the price is unknown. */
  cost(tokens: CountedTokens): string | null
}

/** What the service's own models are: they read any length, think nothing and edit as their script states. */
export const without_limits = {
  context_tokens: null,
  long_prompt_tokens: null,
  max_output_tokens: null,
  reasoning_effort: null,
  tool_family: 'edit',
  accepts_images: false,
  endpoint: null,
} as const

export type ToolSpec = {
  name: string
  description: string
  /** JSON Schema of the input object. */
  input_schema: Record<string, unknown>
  /**
   * The input is one text, in this field; a provider that can is sent the grammar (Lark) and returns the text
   * itself.
   */
  text_input?: { field: string; grammar: string }
}

export type ModelRequest = {
  instructions: string
  /** The conversation so far; assistant messages are exactly the `messages` of earlier responses. */
  messages: ModelMessage[]
  tools: ToolSpec[]
  /**
   * Ids of the earlier calls of the run, also of those that the conversation no longer has: new calls get
   * others. Default: none.
   */
  call_ids?: ReadonlySet<string>
  /** Thinking included. */
  max_output_tokens: number
  /** Null or absent: the default of the model. */
  reasoning_effort?: ReasoningEffort | null
  /**
   * Requests with the same key have the same beginning, which the provider should cache. Absent for a
   * question that is sent once.
   */
  cache_key?: string
  timeouts: { first_byte_ms: number; idle_ms: number; total_ms: number }
  signal?: AbortSignal
  /** A response began, or bytes of it came, be they text or not; never for a refusal. */
  on_progress?: () => void
  /** Text as it comes, for the live view only. */
  on_delta?: (delta: { kind: 'text' | 'reasoning'; text: string }) => void
}

export type ToolCall = {
  id: string
  name: string
  /**
   * The parsed arguments; null when the model sent something that is not a JSON object, then `invalid` is the
   * reason.
   */
  input: Record<string, unknown> | null
  invalid?: string
}

export type ModelUsage = {
  input_tokens: number
  output_tokens: number
  /** Part of input_tokens that the provider served from its cache. */
  cached_tokens: number
  /** Decimal string in US dollars, null when the price is unknown. */
  cost_usd: string | null
  /**
   * The provider's own usage record, or what the gateway of a program read of it; null: at least one count is
   * estimated.
   */
  raw: unknown
}

/**
 * Text, reasoning, names and ids of calls are storable (no NUL, no half of a surrogate pair); inputs are what
 * the model sent.
 */
export type ModelResponse = {
  text: string
  reasoning: string | null
  tool_calls: ToolCall[]
  /** The provider marks all of the text as commentary on the work, not as an answer. */
  commentary?: true
  finish_reason: 'stop' | 'tool_calls' | 'length' | 'refusal' | 'other'
  /** The provider's own word where `finish_reason` is `other`: whether the response is whole is not known. */
  provider_reason?: string
  usage: ModelUsage
  /** The assistant message(s) to append to the conversation, plain JSON, provider metadata included. */
  messages: ModelMessage[]
}

export type ModelErrorCode =
  | 'aborted'
  /** 401, 403: the key is missing, wrong or revoked. */
  | 'auth'
  /** 429. */
  | 'rate_limited'
  /** No connection, 5xx, 529. */
  | 'unavailable'
  /** First byte, idle gap or total time exceeded. */
  | 'timeout'
  /** The stream cannot be understood: bad JSON, cut off, more bytes than allowed. */
  | 'malformed'
  /** The conversation does not fit the context. */
  | 'context_exceeded'
  /** Any other refusal of the request: 400, 404 unknown model. */
  | 'rejected'
  /** A scripted model found that the world is not as its script expects; the run fails with this message. */
  | 'script_failed'

export class ModelError extends Error {
  override name = 'ModelError'
  readonly code: ModelErrorCode
  /** Whether the same request may succeed later. */
  readonly retryable: boolean
  /** The Retry-After of the provider, in milliseconds. */
  readonly retry_after_ms: number | null
  readonly http_status: number | null
  /** The tool whose result the error is about; only a scripted model has one. */
  readonly tool_name: string | null
  constructor(
    code: ModelErrorCode,
    message: string,
    details: {
      retryable?: boolean
      retry_after_ms?: number | null
      http_status?: number | null
      tool_name?: string | null
      cause?: unknown
    } = {},
  ) {
    super(storedText(message), { cause: details.cause })
    this.code = code
    this.retryable =
      details.retryable ?? ['rate_limited', 'unavailable', 'timeout', 'malformed'].includes(code)
    this.retry_after_ms = details.retry_after_ms ?? null
    this.http_status = details.http_status ?? null
    this.tool_name = details.tool_name ?? null
  }
}

type ListedModel = { id: string; label: string; provider: string; scripted: boolean }

type Rate = { input: string; output: string; cached: string; cache_write: string }
/** What is known of a model. `price`: US dollars for a million tokens; null: unknown. */
type ModelFacts = {
  context_tokens: number | null
  max_output_tokens: number | null
  price: (Rate & { long?: Rate & { over_tokens: number } }) | null
  reasoning_effort: ReasoningEffort | null
  tool_family: ToolFamily
}

/** The models a service offers. Unknown names: null. */
export interface ModelCatalog {
  get(id: string): Model | null
  /**
   * What can be named in a request, for the error text and the model list. A provider whose models are
   * open-ended is listed by its prefix.
   */
  list(): ListedModel[]
  /** All known and configured models, also those without a key. */
  describe(): (Omit<ListedModel, 'scripted'> & ModelFacts & { usable: boolean })[]
  /** Whether the models of a provider can be called. */
  has_provider(provider: ModelProvider): boolean
  readonly default_model: string
}

/** Returns the part of a message with an image, a data URI. */
export const imagePart = (uri: string) => ({
  type: 'file' as const,
  data: uri,
  mediaType: /^data:([\w/+.-]+)/.exec(uri)?.[1] ?? 'image/png',
})

/** Returns true for the prompt of a create or resume; of a message of the service it is false. */
export function isPrompt(message: ModelMessage): boolean {
  return message.role === 'user' && message.providerOptions?.agentrun?.prompt === true
}
