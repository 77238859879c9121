import type { AssistantModelMessage, LanguageModelStreamPart, LanguageModelUsage } from 'ai'
import { storedText } from '../../core/text/stored-text.ts'
import { NO_REASON } from '../events/chat-events.ts'
import { ModelError, type ModelMessage, type ModelResponse, type ToolCall } from '../port.ts'
import { argumentsOf, freeId, shortName, toolNameOf } from './response-calls.ts'
import { laterThoughts, type Words as SplitWords, ThoughtSplitter, unopenedThought } from './thoughts.ts'

/** Maximum size of the text, reasoning and tool arguments of one response. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024
/**
 * Reasons that no protocol has, but servers send: the response is not what the model meant. `repetition` is
 * vLLM's, for a loop of tokens.
 */
const BROKEN_OFF = /^other$|error|abort|cancel|fail|malformed|unexpected|repetition/i
/** DeepSeek's `insufficient_system_resource`: the server stopped, and another attempt may succeed later. */
const OVERLOADED = /insufficient|overload|unavailable/i

/**
 * Words that servers and gateways of chat completions use in addition to those of OpenAI: Together,
 * text-generation-inference, Mistral, Zhipu, Bedrock.
 */
const OTHER_WORDS: [RegExp, ModelResponse['finish_reason']][] = [
  [/^(end|end_turn|eos|eos_token|stop_sequence|complete|completed)$/i, 'stop'],
  [/^(max_?(output_|completion_|new_)?tokens|max_length|model_length)$/i, 'length'],
  [/^(sensitive|safety|refusal|content_filtered|guardrail_intervened)$/i, 'refusal'],
]

type Part = Exclude<AssistantModelMessage['content'], string>[number]
type Words = Extract<Part, { type: 'text' | 'reasoning' }>
type Metadata = {
  id: string
  providerMetadata?: Extract<LanguageModelStreamPart, { type: 'text-end' }>['providerMetadata']
}
type ToolCallPart = Parameters<typeof argumentsOf>[0]

type Delta = { kind: 'text' | 'reasoning'; text: string }
export type ReadResponse = Omit<ModelResponse, 'usage'> & { usage: LanguageModelUsage }

/** What of the request decides how its response is read. */
type Request = {
  /** Ids of calls that are taken. */
  taken: ReadonlySet<string>
  /** Names of the tools. */
  tools: ReadonlySet<string>
  /** The fields of tools whose input is a text. */
  text_fields: ReadonlyMap<string, string>
  /** Whether reasoning is a plain field beside the text, where some servers put the answer. */
  plain_reasoning: boolean
}

type ResponseReader = Omit<Request, 'taken'> & {
  /** Separates thoughts from each part of text, by its id. */
  splitters: Map<string, ThoughtSplitter>
  content: Part[]
  open: Map<string, Words>
  calls: ToolCall[]
  ids: Set<string>
  /** Whether the arguments of the last call show by themselves that they are whole. */
  whole: boolean
  end: Extract<LanguageModelStreamPart, { type: 'model-call-end' }> | null
  bytes: number
}

/**
 * Assembles the parts of one model stream. `add` returns the texts to show live, and throws an error that the
 * stream reports. `finish` returns the response; it throws ModelError `malformed` when the stream ended
 * before the model did. Text, reasoning, names and ids of the response are made storable; tool arguments stay
 * unchanged, they are only stored as JSON. Ids of tool calls are unique and not in `taken`.
 */
export function responseReader({ taken, ...request }: Request): {
  add(part: LanguageModelStreamPart): Delta[]
  finish(): ReadResponse
} {
  const reading: ResponseReader = {
    ...request,
    splitters: new Map(),
    content: [],
    open: new Map(),
    calls: [],
    ids: new Set(taken),
    whole: true,
    end: null,
    bytes: 0,
  }
  return { add: part => addPart(reading, part), finish: () => finish(reading) }
}

function addPart(reading: ResponseReader, part: LanguageModelStreamPart): Delta[] {
  switch (part.type) {
    case 'text-start':
      return []
    case 'text-end':
      return endText(reading, part)
    case 'reasoning-start':
    case 'reasoning-end':
      return append(reading, 'reasoning', '', part)
    case 'text-delta':
      grow(reading, part.text)
      return addText(reading, part)
    case 'reasoning-delta':
      grow(reading, part.text)
      return append(reading, 'reasoning', part.text, part)
    case 'tool-input-delta':
      grow(reading, part.delta)
      return []
    case 'tool-call':
      addCall(reading, part)
      return []
    case 'custom':
      // The start of Claude's stream is reported too; it is not content, and no provider expects it back.
      if (part.kind !== 'anthropic.message_start')
        reading.content.push({ type: 'custom', kind: part.kind, providerOptions: part.providerMetadata })
      return []
    case 'model-call-end':
      reading.end = part
      return []
    case 'error':
      if (!isUnknownEvent(part.error)) throw part.error
      return []
    default:
      return []
  }
}

function grow(reading: ResponseReader, text: string): void {
  reading.bytes += Buffer.byteLength(text)
  if (reading.bytes > MAX_RESPONSE_BYTES)
    throw new ModelError('malformed', `The response of the model has more than ${MAX_RESPONSE_BYTES} bytes.`)
}

function append(
  { content, open }: ResponseReader,
  type: 'text' | 'reasoning',
  text: string,
  { id, providerMetadata }: Metadata,
): Delta[] {
  const key = `${type} ${id}`
  const part: Words = open.get(key) ?? { type, text: '' }
  if (!open.has(key)) {
    open.set(key, part)
    content.push(part)
  }
  part.text += text
  if (providerMetadata) part.providerOptions = providerMetadata
  return text === '' ? [] : [{ kind: type, text }]
}

function addText(reading: ResponseReader, part: Metadata & { text: string }): Delta[] {
  const splitter = reading.splitters.get(part.id) ?? new ThoughtSplitter()
  reading.splitters.set(part.id, splitter)
  return appendAll(reading, splitter.add(part.text), part)
}

function endText(reading: ResponseReader, part: Metadata): Delta[] {
  const rest = appendAll(reading, reading.splitters.get(part.id)?.end() ?? [], part)
  reading.splitters.delete(part.id)
  // The metadata of an item may come without a text.
  if (part.providerMetadata) append(reading, 'text', '', part)
  return rest
}

/** A thought in tags belongs to no item of the provider. */
const appendAll = (
  reading: ResponseReader,
  words: SplitWords[],
  { id, providerMetadata }: Metadata,
): Delta[] =>
  words.flatMap(({ kind, text }) =>
    append(reading, kind, text, { id, ...(kind === 'text' && providerMetadata && { providerMetadata }) }),
  )

function addCall(reading: ResponseReader, part: ToolCallPart): void {
  const { tools, text_fields, content, calls, ids } = reading
  if (part.providerExecuted) return
  const id = freeId(part.toolCallId, ids)
  ids.add(id)
  const name = toolNameOf(part.toolName, tools)
  const { input, invalid } = argumentsOf(part, text_fields.get(name))
  reading.whole = typeof part.input === 'object' && Object.keys(input ?? {}).length > 0
  calls.push({ id, name, input, ...(invalid === undefined ? {} : { invalid }) })
  content.push({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: input ?? {},
    providerOptions: part.providerMetadata,
  })
}

function finish(reading: ResponseReader): ReadResponse {
  const { content, calls, end, splitters } = reading
  for (const id of splitters.keys()) endText(reading, { id })
  const { finishReason = 'interrupted', rawFinishReason, usage = null } = end ?? {}
  if (rawFinishReason === 'model_context_window_exceeded')
    throw new ModelError('context_exceeded', 'The context of the model is full.')
  const without_reason = rawFinishReason === undefined && finishReason === 'other'
  if (!usage || finishReason === 'interrupted' || without_reason)
    throw new ModelError('malformed', 'The response of the model ended in the middle.')
  if (
    rawFinishReason === NO_REASON &&
    (content.length === 0 || (content.at(-1)?.type === 'tool-call' && !reading.whole))
  )
    throw new ModelError('malformed', 'The response of the model ended in the middle.')
  const finish_reason = finishReasonOf(finishReason, rawFinishReason, calls.length > 0)
  if (finish_reason === 'length') discardCutArguments(reading)
  // Only now: a surrogate pair may arrive in two deltas.
  for (const part of content)
    if (part.type === 'text' || part.type === 'reasoning') part.text = storedText(part.text)
  if (finish_reason === 'stop' || finish_reason === 'tool_calls') separateThoughts(reading)
  const kept = content.filter(
    part => (part.type !== 'text' && part.type !== 'reasoning') || part.text !== '' || part.providerOptions,
  )
  const join = (type: 'text' | 'reasoning') =>
    content.map(part => (part.type === type ? part.text : '')).join('')
  const messages: ModelMessage[] = kept.length > 0 ? [{ role: 'assistant', content: kept }] : []
  return {
    text: join('text'),
    reasoning: join('reasoning') || null,
    tool_calls: calls,
    ...(isCommentary(kept) && { commentary: true }),
    finish_reason,
    ...(finish_reason === 'other' &&
      rawFinishReason && { provider_reason: storedText(shortName(rawFinishReason)) }),
    usage,
    messages: JSON.parse(JSON.stringify(messages)),
  }
}

/**
 * Moves a thought out of the text, and an answer out of the reasoning: some servers put all of a response
 * into either.
 */
function separateThoughts({ content, calls, plain_reasoning }: ResponseReader): void {
  const answer = content.find((part): part is Words => part.type === 'text' && part.text.trim() !== '')
  const thought = answer && (laterThoughts(answer.text) ?? unopenedThought(answer.text))
  if (answer && thought) {
    answer.text = thought.text
    content.splice(content.indexOf(answer), 0, { type: 'reasoning', text: thought.reasoning })
  }
  if (answer || calls.length > 0 || !plain_reasoning) return
  for (const [i, part] of content.entries())
    if (part.type === 'reasoning') content[i] = { type: 'text', text: part.text }
}

/**
 * Returns why a response ended, from the SDK's reason and the provider's own word. Throws ModelError when the
 * response was broken off: `unavailable` by a server without resources, otherwise `malformed`.
 */
function finishReasonOf(
  reason: string,
  word: string | undefined,
  called: boolean,
): ModelResponse['finish_reason'] {
  if (reason === 'error' || BROKEN_OFF.test(word ?? '') || OVERLOADED.test(word ?? ''))
    throw new ModelError(
      OVERLOADED.test(word ?? '') ? 'unavailable' : 'malformed',
      `The model interrupted its response: ${JSON.stringify(shortName(word ?? ''))}.`,
    )
  const other = reason === 'other' ? OTHER_WORDS.find(([words]) => words.test(word ?? ''))?.[1] : undefined
  if (reason === 'length' || other === 'length') return 'length'
  if (reason === 'content-filter' || other === 'refusal') return 'refusal'
  if (called) return 'tool_calls'
  // Announced calls that did not come: what is there is the response.
  return reason === 'stop' || reason === 'tool-calls' || word === NO_REASON ? 'stop' : (other ?? 'other')
}

/**
 * A response that ends with a call was cut off within it, unless its JSON is closed: nothing shows the end of
 * a text, or that none began.
 */
function discardCutArguments({ content, calls, whole }: ResponseReader): void {
  const [part, call] = [content.at(-1), calls.at(-1)]
  if (whole || part?.type !== 'tool-call' || !call?.input) return
  part.input = {}
  call.input = null
  call.invalid = 'The response was cut off before their end.'
}

/** OpenAI marks what a model writes between its calls. */
function isCommentary(content: Part[]): boolean {
  const texts = content.filter(part => part.type === 'text')
  return (
    texts.length > 0 && texts.every(({ providerOptions }) => providerOptions?.openai?.phase === 'commentary')
  )
}

/**
 * Events that are newer than the SDK and carry no part of the response are skipped, as their protocol
 * requires.
 */
function isUnknownEvent(error: unknown): boolean {
  if (!(error instanceof Error) || !/TypeValidationError/.test(error.name) || !('value' in error))
    return false
  const { value } = error
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !['choices', 'candidates', 'delta', 'content_block', 'message', 'error', 'item', 'response'].some(
    key => key in value,
  )
}
