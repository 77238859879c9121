import { AsyncLocalStorage } from 'node:async_hooks'
import type { LanguageModel, experimental_streamLanguageModelCall as streamCall } from 'ai'
import type { ReasoningEffort } from '../contract/reasoning-efforts.ts'
import { markCached, type ProviderOptions } from './cache-marks.ts'
import { costUsd, maxCostUsd } from './call-cost.ts'
import { type CallGuard, guardCall } from './call-guard.ts'
import type { DescribedModel } from './described-model.ts'
import { toModelError } from './failure.ts'
import { sdkTools, type ToolFunctions, textFields, withFreeformCalls } from './freeform-tools.ts'
import { type LearnedModels, type Lesson, lessonOf, nothing_learned, withRefused } from './learned-limits.ts'
import {
  type Model,
  ModelError,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ModelUsage,
} from './port.ts'
import { KeptPrefixes, type MessagesField, type SerializedPart } from './request/kept-prefix.ts'
import { type ReadResponse, responseReader } from './response/response.ts'
import type { Thinking } from './thinking.ts'
import { withToolResultTexts } from './tool-results.ts'

type AiSdkModel = {
  /** `provider/model`. */
  id: string
  described: DescribedModel
  learned: LearnedModels
  /** Sends the requests; undefined: Node's. */
  fetch: typeof globalThis.fetch | undefined
  /** The SDK's model, which sends through `fetch`. */
  connect(fetch: typeof globalThis.fetch): Promise<LanguageModel>
  /** For every call; `cache_key` undefined: no part of it should be cached. */
  options(cache_key: string | undefined): ProviderOptions
  thinking(effort: ReasoningEffort | null, max_output_tokens: number): Thinking
  /** Marks the part that a provider should cache, where it needs that. */
  cache_mark: ProviderOptions | null
  /** Whether a failed tool result has a field of its own; otherwise the SDK would wrap its text in JSON. */
  marks_failures: boolean
  /** Where the body of a request has its messages. */
  messages_field: MessagesField
  /** Whether the provider takes tools whose input is a text instead of JSON. */
  freeform_tools: boolean
  accepts_images: boolean
  endpoint: Model['endpoint']
  /** Texts that must not be in an error message. */
  secrets: string[]
}

/**
 * The call that a request belongs to: each guards its own bytes, while the SDK's model with its schemas is
 * created once.
 */
const calls = new AsyncLocalStorage<Pick<CallGuard, 'fetch'>>()
const watchedFetch: typeof globalThis.fetch = (input, init) => {
  const guard = calls.getStore()
  return guard ? guard.fetch(input, init) : Promise.reject(new Error('a request outside of a call'))
}

/** A request as it is sent; `effort` null: the provider decides. */
type SentRequest = ModelRequest & { effort: ReasoningEffort | null }

/** The SDK, its model, and what it has serialized already. */
type ConnectedModel = ToolFunctions & {
  streamCall: typeof streamCall
  language_model: LanguageModel
  prefixes: KeptPrefixes
}

/**
 * Loads the SDK with the first call: it takes 16 MiB, and a process that only serves, or waits, needs none of
 * it.
 */
async function connect({ connect, freeform_tools, messages_field }: AiSdkModel): Promise<ConnectedModel> {
  const [sdk, openai, language_model] = await Promise.all([
    import('ai'),
    freeform_tools ? import('@ai-sdk/openai') : null,
    connect(watchedFetch),
  ])
  return {
    streamCall: sdk.experimental_streamLanguageModelCall,
    jsonSchema: sdk.jsonSchema,
    tool: sdk.tool,
    customTool: openai?.openai.tools.customTool ?? null,
    language_model,
    prefixes: new KeptPrefixes(messages_field),
  }
}

/**
 * Returns a provider's model through the AI SDK, which is used as a library for one streaming request at a
 * time: it executes no tool and retries nothing. Messages of responses are plain JSON; a response without any
 * content has none.
 */
export function createAiSdkModel(model: AiSdkModel): Model {
  const { id, described } = model
  const learned = () => model.learned.get(id) ?? nothing_learned
  let connecting: Promise<ConnectedModel> | undefined
  const connected = () => {
    connecting ??= connect(model).catch(error => {
      connecting = undefined
      throw error
    })
    return connecting
  }
  return {
    id,
    scripted: false,
    get context_tokens() {
      return learned().context_tokens ?? described.context_tokens
    },
    get max_output_tokens() {
      return learned().max_output_tokens ?? described.max_output_tokens
    },
    long_prompt_tokens: described.pricing?.price.long?.over_tokens ?? null,
    reasoning_effort: described.reasoning_effort,
    tool_family: described.tool_family,
    accepts_images: model.accepts_images,
    endpoint: model.endpoint,
    price: tokens => maxCostUsd(described.pricing, tokens, Date.now()),
    async call(request) {
      const effort = request.reasoning_effort ?? described.reasoning_effort
      const kinds = new Set<Lesson['kind']>()
      let refused: ReasoningEffort | null = null
      let sent: SentRequest = {
        ...request,
        effort: effort !== null && learned().refused_efforts.has(effort) ? null : effort,
      }
      for (;;) {
        const called = await callOnce(model, connected, sent)
        if ('response' in called) {
          if (refused !== null) model.learned.set(id, withRefused(learned(), refused))
          return called.response
        }
        const lesson = lessonOf(
          called.error,
          { ...sent, input_estimate: () => estimate(inputOf(request), 3) },
          learned(),
        )
        if (lesson === null) throw called.error
        if (lesson.kind === 'limit') model.learned.set(id, lesson.learned)
        // What is refused again in spite of its lesson is not sent a third time.
        if (lesson.retry === null || kinds.has(lesson.kind)) throw called.error
        kinds.add(lesson.kind)
        // A response proves that the refusal was about the effort.
        if (lesson.kind === 'effort') refused = sent.effort
        sent = { ...sent, ...lesson.retry }
      }
    },
  }
}

type CallResult = { response: ModelResponse } | { error: ModelError }

async function callOnce(
  model: AiSdkModel,
  connected: () => Promise<ConnectedModel>,
  sent: SentRequest,
): Promise<CallResult> {
  using guard = guardCall(sent, model.fetch)
  try {
    const read = await Promise.race([
      guard.stopped,
      connected().then(sdk => readResponse(model, sdk, sent, guard)),
    ])
    return { response: { ...read, usage: toUsage(model.described, read, sent) } }
  } catch (cause) {
    const error = guard.failure() ?? toModelError(cause, model.secrets, Date.now())
    guard.stop(error)
    return { error }
  }
}

async function readResponse(
  model: AiSdkModel,
  connected: ConnectedModel,
  sent: SentRequest,
  guard: CallGuard,
): Promise<ReadResponse> {
  const { messages } = sent
  const settings =
    sent.cache_key === undefined ? null : `${sent.cache_key} ${sent.effort} ${sent.instructions}`
  const unmarked = messages.findLastIndex(({ role }) => role === 'assistant') - 1
  const kept = settings === null ? null : connected.prefixes.find(messages, settings, unmarked)
  const fetch: typeof globalThis.fetch = (input, init) => {
    if (settings === null || typeof init?.body !== 'string') return guard.fetch(input, init)
    const body = kept === null ? init.body : connected.prefixes.insert(init.body, kept)
    if (body === null)
      guard.stop(
        new ModelError(
          'malformed',
          'The request has another form than the one before; it is serialized as a whole.',
        ),
      )
    if (body === null) return Promise.reject(new Error('not sent'))
    const request = { settings, chars: init.body.length, kept }
    const serialize = (part: ModelMessage[], what: SerializedPart) =>
      bodyOf(model, connected, { ...sent, messages: part }, what)
    // While the model responds.
    setImmediate(() => void connected.prefixes.keep(messages, request, serialize).catch(() => {}))
    return guard.fetch(input, { ...init, body })
  }
  const rest = { ...sent, messages: messages.slice(kept?.messages.length ?? 0) }
  const { stream } = await calls.run({ fetch }, () =>
    connected.streamCall({ ...callOf(model, connected, rest, 'marked'), abortSignal: guard.signal }),
  )
  const reader = responseReader({
    taken: sent.call_ids ?? new Set(),
    tools: new Set(sent.tools.map(({ name }) => name)),
    text_fields: textFields(sent.tools),
    plain_reasoning: model.endpoint?.api === 'openai-chat',
  })
  for await (const part of stream) {
    if (guard.failure()) break
    for (const delta of reader.add(part)) sent.on_delta?.(delta)
  }
  return reader.finish()
}

/**
 * The body of a request that is not sent, without marks at its messages; null: the SDK serializes no such
 * messages.
 */
async function bodyOf(
  model: AiSdkModel,
  connected: ConnectedModel,
  part: SentRequest,
  what: SerializedPart,
): Promise<string | null> {
  let body: string | null = null
  const fetch: typeof globalThis.fetch = async (_input, init) => {
    body = typeof init?.body === 'string' ? init.body : null
    throw new Error('only serialized')
  }
  const { instructions, ...call } = callOf(model, connected, part, 'unmarked')
  await calls
    .run({ fetch }, () => connected.streamCall(what === 'messages only' ? call : { ...call, instructions }))
    .catch(() => {})
  return body
}

function callOf(
  model: AiSdkModel,
  connected: ConnectedModel,
  sent: SentRequest,
  marks: 'marked' | 'unmarked',
) {
  const mark = sent.cache_key === undefined ? null : model.cache_mark
  const conversation = model.freeform_tools ? withFreeformCalls(sent.messages, sent.tools) : sent.messages
  const messages = withToolResultTexts(conversation, model.marks_failures)
  const { options, ...thinking } = model.thinking(sent.effort, sent.max_output_tokens)
  return {
    model: connected.language_model,
    instructions: {
      role: 'system' as const,
      content: sent.instructions,
      ...(mark && { providerOptions: mark }),
    },
    messages: mark && marks === 'marked' ? markCached(messages, mark) : messages,
    tools: sdkTools(sent.tools, connected),
    ...thinking,
    providerOptions: merged(model.options(sent.cache_key), options),
  }
}

function merged(one: ProviderOptions, other: ProviderOptions): ProviderOptions {
  const providers = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(providers.map(provider => [provider, { ...one[provider], ...other[provider] }]))
}

const inputOf = ({ instructions, messages, tools }: ModelRequest) => [instructions, messages, tools]

/**
 * Some servers report no usage, or only one of the counts; then it is estimated at four characters a token,
 * and `raw` is null.
 */
function toUsage(
  { pricing }: DescribedModel,
  { usage, ...response }: ReadResponse,
  request: ModelRequest,
): ModelUsage {
  const counts = [usage.inputTokens, usage.outputTokens].map(count =>
    count === undefined || count < 0 ? null : count,
  )
  const [input = null, output = null] = counts.some(count => count !== null && count > 0) ? counts : []
  const tokens = {
    input_tokens: input ?? estimate(inputOf(request), 4),
    output_tokens: output ?? estimate(response.messages, 4),
    cached_tokens: usage.inputTokenDetails.cacheReadTokens ?? 0,
  }
  const cost_usd = costUsd(
    pricing,
    { ...tokens, cache_write_tokens: usage.inputTokenDetails.cacheWriteTokens ?? 0 },
    Date.now(),
  )
  return { ...tokens, cost_usd, raw: input === null || output === null ? null : (usage.raw ?? {}) }
}

function estimate(value: unknown[], characters_a_token: number): number {
  return Math.ceil(JSON.stringify(value).length / characters_a_token)
}
