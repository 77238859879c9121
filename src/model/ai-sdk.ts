import { AsyncLocalStorage } from 'node:async_hooks'
import {
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  experimental_streamLanguageModelCall as streamCall,
  tool,
} from 'ai'
import { answerReader, type ReadAnswer } from './answer.ts'
import { costUsd, mostUsd } from './call-cost.ts'
import { type CallGuard, guardCall } from './call-guard.ts'
import { toModelError } from './failure.ts'
import type { Model, ModelAnswer, ModelRequest, ModelUsage } from './port.ts'
import { withToolResultTexts } from './tool-results.ts'

type ProviderOptions = NonNullable<ModelMessage['providerOptions']>

export type AiSdkModel = {
  /** `provider/model`. */
  id: string
  context_tokens: number | null
  /** The SDK's model, which sends through `fetch`. */
  connect(fetch: typeof globalThis.fetch): LanguageModel
  options: ProviderOptions
  /** Marks the end of the stable part of a conversation, where the provider needs that for its prompt cache. */
  cache_mark: ProviderOptions | null
  /** Whether a failed tool result has a field of its own; otherwise the SDK would wrap its text in JSON. */
  marks_failures: boolean
  /** Texts that must not be in an error message. */
  secrets: string[]
}

/** The call that a request belongs to: each guards its own bytes, while the SDK's model with its schemas is created once. */
const calls = new AsyncLocalStorage<CallGuard>()
const watchedFetch: typeof globalThis.fetch = (input, init) => {
  const guard = calls.getStore()
  return guard ? guard.fetch(input, init) : Promise.reject(new Error('a request outside of a call'))
}

/**
 * A provider's model through the AI SDK, which is used as a library for exactly one streaming call: it executes no tool and retries nothing.
 * Messages of answers are plain JSON; an answer without any content has none.
 */
export function createAiSdkModel(model: AiSdkModel): Model {
  let connected: LanguageModel | undefined
  return {
    id: model.id,
    scripted: false,
    context_tokens: model.context_tokens,
    price: tokens => mostUsd(model.id, tokens, Date.now()),
    async call(request) {
      using guard = guardCall(request)
      try {
        connected ??= model.connect(watchedFetch)
        const sdk_model = connected
        const read = await Promise.race([guard.stopped, calls.run(guard, () => readAnswer(model, sdk_model, request, guard))])
        return { ...read, usage: toUsage(model.id, read, request) }
      } catch (error) {
        const failure = guard.failure() ?? toModelError(error, model.secrets, Date.now())
        guard.stop(failure)
        throw failure
      }
    },
  }
}

async function readAnswer(model: AiSdkModel, sdk_model: LanguageModel, request: ModelRequest, guard: CallGuard): Promise<ReadAnswer> {
  const messages = withToolResultTexts(request.messages, model.marks_failures)
  const { stream } = await streamCall({
    model: sdk_model,
    instructions: { role: 'system', content: request.instructions, ...(model.cache_mark ? { providerOptions: model.cache_mark } : {}) },
    messages: model.cache_mark ? markLast(messages, model.cache_mark) : messages,
    tools: Object.fromEntries(
      request.tools.map(({ name, description, input_schema }) => [name, tool({ description, inputSchema: jsonSchema(input_schema) })]),
    ),
    maxOutputTokens: request.max_output_tokens,
    providerOptions: model.options,
    abortSignal: guard.signal,
  })
  const reader = answerReader(callIds(request.messages))
  for await (const part of stream) {
    if (guard.failure()) break
    const delta = reader.add(part)
    if (delta) request.on_delta?.(delta)
  }
  return reader.finish()
}

function markLast(messages: ModelMessage[], mark: ProviderOptions): ModelMessage[] {
  const last = messages.at(-1)
  return last ? [...messages.slice(0, -1), { ...last, providerOptions: { ...last.providerOptions, ...mark } }] : messages
}

function callIds(messages: ModelMessage[]): Set<string> {
  const ids = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue
    for (const part of message.content) if (part.type === 'tool-call') ids.add(part.toolCallId)
  }
  return ids
}

/** Some servers report no usage; then it is estimated at four characters a token, and `raw` is null. */
function toUsage(id: string, { usage, ...answer }: ReadAnswer, request: ModelRequest): ModelUsage {
  const counted = isCounted(usage)
  const tokens = {
    input_tokens: counted ? (usage.inputTokens ?? 0) : estimate([request.instructions, request.messages, request.tools]),
    output_tokens: counted ? (usage.outputTokens ?? 0) : estimate(answer.messages),
    cached_tokens: usage.inputTokenDetails.cacheReadTokens ?? 0,
  }
  const cost_usd = costUsd(id, { ...tokens, cache_write_tokens: usage.inputTokenDetails.cacheWriteTokens ?? 0 }, Date.now())
  return { ...tokens, cost_usd, raw: counted ? (usage.raw ?? null) : null }
}

function isCounted(usage: LanguageModelUsage): boolean {
  return (usage.inputTokens ?? 0) > 0 || (usage.outputTokens ?? 0) > 0
}

function estimate(value: ModelAnswer['messages'] | unknown[]): number {
  return Math.ceil(JSON.stringify(value).length / 4)
}
