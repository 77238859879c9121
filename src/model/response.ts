import type { AssistantModelMessage, LanguageModelStreamPart, LanguageModelUsage } from 'ai'
import { storedText } from '../core/text/stored-text.ts'
import { ModelError, type ModelMessage, type ModelResponse, type ToolCall } from './port.ts'

/** Maximum size of the text, reasoning and tool arguments of one response. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024
/** Maximum nesting of tool arguments; deeper ones break serializers. */
const MAX_ARGUMENT_DEPTH = 64
/** Maximum number of values in tool arguments at all levels: truncation, comparison and display visit each. */
const MAX_ARGUMENT_VALUES = 10_000
/** Maximum size of tool arguments: more than a model can write in one response, and than its conversation could keep. */
const MAX_ARGUMENT_BYTES = 512 * 1024
/** Maximum length of a tool's name and of the id of a call. */
const MAX_NAME = 200

/** Reasons that no protocol has, but servers send: the response is not what the model meant. `repetition` is vLLM's, for a loop of tokens. */
const BROKEN_OFF = /^other$|error|abort|cancel|fail|malformed|unexpected|repetition/i
/** DeepSeek's `insufficient_system_resource`: the server stopped, and another attempt may succeed later. */
const OVERLOADED = /insufficient|overload|unavailable/i

/** Words that servers and gateways of chat completions use besides those of OpenAI: Together, text-generation-inference, Mistral, Zhipu, Bedrock. */
const OTHER_WORDS: [RegExp, ModelResponse['finish_reason']][] = [
  [/^(end|end_turn|eos|eos_token|stop_sequence|complete|completed)$/i, 'stop'],
  [/^(max_?(output_|completion_|new_)?tokens|max_length|model_length)$/i, 'length'],
  [/^(sensitive|safety|refusal|content_filtered|guardrail_intervened)$/i, 'refusal'],
]

type Part = Exclude<AssistantModelMessage['content'], string>[number]
type Words = Extract<Part, { type: 'text' | 'reasoning' }>
type Metadata = { id: string; providerMetadata?: Extract<LanguageModelStreamPart, { type: 'text-end' }>['providerMetadata'] }
type ToolCallPart = Extract<LanguageModelStreamPart, { type: 'tool-call' }>

type Delta = { kind: 'text' | 'reasoning'; text: string }
export type ReadResponse = Omit<ModelResponse, 'usage'> & { usage: LanguageModelUsage }

type Reading = {
  text_fields: ReadonlyMap<string, string>
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
 * Assembles the parts of one model stream. `add` returns the text to show live, or null, and throws an error that the stream reports. `finish`
 * returns the response; it throws ModelError `malformed` when the stream ended before the model did. Text, reasoning, names and ids of the response
 * are made storable; tool arguments stay unchanged, they are only stored as JSON. Ids of tool calls are unique and not in `taken`. `text_fields`: the
 * fields of tools whose input is a text.
 */
export function responseReader(
  taken: ReadonlySet<string>,
  text_fields: ReadonlyMap<string, string>,
): { add(part: LanguageModelStreamPart): Delta | null; finish(): ReadResponse } {
  const reading: Reading = { text_fields, content: [], open: new Map(), calls: [], ids: new Set(taken), whole: true, end: null, bytes: 0 }
  return { add: part => addPart(reading, part), finish: () => finish(reading) }
}

function addPart(reading: Reading, part: LanguageModelStreamPart): Delta | null {
  switch (part.type) {
    case 'text-start':
    case 'text-end':
      return append(reading, 'text', '', part)
    case 'reasoning-start':
    case 'reasoning-end':
      return append(reading, 'reasoning', '', part)
    case 'text-delta':
      grow(reading, part.text)
      return append(reading, 'text', part.text, part)
    case 'reasoning-delta':
      grow(reading, part.text)
      return append(reading, 'reasoning', part.text, part)
    case 'tool-input-delta':
      grow(reading, part.delta)
      return null
    case 'tool-call':
      addCall(reading, part)
      return null
    case 'custom':
      // The start of Claude's stream is reported too; it is no content, and no provider expects it back.
      if (part.kind !== 'anthropic.message_start')
        reading.content.push({ type: 'custom', kind: part.kind, providerOptions: part.providerMetadata })
      return null
    case 'model-call-end':
      reading.end = part
      return null
    case 'error':
      if (!isUnknownEvent(part.error)) throw part.error
      return null
    default:
      return null
  }
}

function grow(reading: Reading, text: string): void {
  reading.bytes += Buffer.byteLength(text)
  if (reading.bytes > MAX_RESPONSE_BYTES)
    throw new ModelError('malformed', `The response of the model has more than ${MAX_RESPONSE_BYTES} bytes.`)
}

function append({ content, open }: Reading, type: 'text' | 'reasoning', text: string, { id, providerMetadata }: Metadata): Delta | null {
  const key = `${type} ${id}`
  const part: Words = open.get(key) ?? { type, text: '' }
  if (!open.has(key)) {
    open.set(key, part)
    content.push(part)
  }
  part.text += text
  if (providerMetadata) part.providerOptions = providerMetadata
  return text === '' ? null : { kind: type, text }
}

function addCall(reading: Reading, part: ToolCallPart): void {
  const { text_fields, content, calls, ids } = reading
  if (part.providerExecuted) return
  const id = freeId(part.toolCallId, ids)
  ids.add(id)
  const name = storedText(part.toolName.slice(0, MAX_NAME))
  const { input, invalid } = argumentsOf(part, text_fields.get(part.toolName))
  reading.whole = typeof part.input === 'object' && Object.keys(input ?? {}).length > 0
  calls.push({ id, name, input, ...(invalid === undefined ? {} : { invalid }) })
  content.push({ type: 'tool-call', toolCallId: id, toolName: name, input: input ?? {}, providerOptions: part.providerMetadata })
}

function finish(reading: Reading): ReadResponse {
  const { content, calls, end } = reading
  const { finishReason = 'interrupted', rawFinishReason, usage = null } = end ?? {}
  if (rawFinishReason === 'model_context_window_exceeded') throw new ModelError('context_exceeded', 'The context of the model is full.')
  const without_reason = rawFinishReason === undefined && finishReason === 'other'
  if (!usage || finishReason === 'interrupted' || without_reason)
    throw new ModelError('malformed', 'The response of the model ended in the middle.')
  const finish_reason = finishReasonOf(finishReason, rawFinishReason, calls.length > 0)
  if (finish_reason === 'length') discardCutArguments(reading)
  // Only now: a surrogate pair may arrive in two deltas.
  for (const part of content) if (part.type === 'text' || part.type === 'reasoning') part.text = storedText(part.text)
  const kept = content.filter(part => (part.type !== 'text' && part.type !== 'reasoning') || part.text !== '' || part.providerOptions)
  const join = (type: 'text' | 'reasoning') => content.map(part => (part.type === type ? part.text : '')).join('')
  const messages: ModelMessage[] = kept.length > 0 ? [{ role: 'assistant', content: kept }] : []
  return {
    text: join('text'),
    reasoning: join('reasoning') || null,
    tool_calls: calls,
    ...(isCommentary(kept) && { commentary: true }),
    finish_reason,
    ...(finish_reason === 'other' && rawFinishReason && { provider_reason: storedText(rawFinishReason.slice(0, MAX_NAME)) }),
    usage,
    messages: JSON.parse(JSON.stringify(messages)),
  }
}

/**
 * Returns why a response ended, from the SDK's reason and the provider's own word. Throws ModelError when the response was broken off: `unavailable`
 * by a server without resources, otherwise `malformed`.
 */
function finishReasonOf(reason: string, word: string | undefined, called: boolean): ModelResponse['finish_reason'] {
  if (reason === 'error' || BROKEN_OFF.test(word ?? '') || OVERLOADED.test(word ?? ''))
    throw new ModelError(
      OVERLOADED.test(word ?? '') ? 'unavailable' : 'malformed',
      `The model interrupted its response: ${JSON.stringify(word?.slice(0, MAX_NAME))}.`,
    )
  const other = reason === 'other' ? OTHER_WORDS.find(([words]) => words.test(word ?? ''))?.[1] : undefined
  if (reason === 'length' || other === 'length') return 'length'
  if (reason === 'content-filter' || other === 'refusal') return 'refusal'
  if (called) return 'tool_calls'
  return reason === 'stop' ? 'stop' : (other ?? 'other')
}

/** A response that ends with a call was cut off within it, unless its JSON is closed: nothing shows the end of a text, or that none began. */
function discardCutArguments({ content, calls, whole }: Reading): void {
  const [part, call] = [content.at(-1), calls.at(-1)]
  if (whole || part?.type !== 'tool-call' || !call?.input) return
  part.input = {}
  call.input = null
  call.invalid = 'The response was cut off before their end.'
}

/** OpenAI marks what a model writes between its calls. */
function isCommentary(content: Part[]): boolean {
  const texts = content.filter(part => part.type === 'text')
  return texts.length > 0 && texts.every(({ providerOptions }) => providerOptions?.openai?.phase === 'commentary')
}

/** Events that are newer than the SDK and carry no part of the response are skipped, as their protocol requires. */
function isUnknownEvent(error: unknown): boolean {
  if (!(error instanceof Error) || !/TypeValidationError/.test(error.name) || !('value' in error)) return false
  const { value } = error
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return !['choices', 'candidates', 'delta', 'content_block', 'message', 'error', 'item', 'response'].some(key => key in value)
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const id = storedText(wanted.slice(0, MAX_NAME))
  const blank = id.trim() === ''
  if (!taken.has(id) && !blank) return id
  const stem = blank ? 'call' : storedText(id.slice(0, MAX_NAME - 10))
  for (let number = 2; ; number++) if (!taken.has(`${stem}_${number}`)) return `${stem}_${number}`
}

/** The SDK also marks calls of unknown tools as invalid; those are passed on, and the agent responds to them. */
function argumentsOf(part: ToolCallPart, text_field: string | undefined): Pick<ToolCall, 'input' | 'invalid'> {
  const input: unknown = part.input
  if (typeof input === 'string' && text_field !== undefined && !part.invalid) return { input: { [text_field]: input } }
  const invalid = (why: string) => ({ input: null, invalid: why })
  if (typeof input === 'string' && part.invalid) {
    return input.trim() === '' ? { input: {} } : invalid(`The arguments are not valid JSON: ${storedText(input.slice(0, 200))}`)
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    const what = input === null ? 'null' : Array.isArray(input) ? 'an array' : `a ${typeof input}`
    return invalid(`The arguments must be a JSON object, not ${what}.`)
  }
  const excess = excessOf(input)
  if (excess !== null) return invalid(excess)
  const bytes = Buffer.byteLength(JSON.stringify(input))
  if (bytes > MAX_ARGUMENT_BYTES)
    return invalid(`The arguments have ${bytes} bytes, more than ${MAX_ARGUMENT_BYTES}. Write a large file in parts.`)
  return { input: input as Record<string, unknown> }
}

/** Returns which limit these arguments exceed; null: none. */
function excessOf(root: object): string | null {
  let values = 0
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_ARGUMENT_DEPTH) return `The arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.`
    const next: unknown[] = []
    for (const parent of level)
      for (const value of Object.values(parent as object)) {
        if (++values > MAX_ARGUMENT_VALUES) return `The arguments hold more than ${MAX_ARGUMENT_VALUES} values.`
        if (typeof value === 'object' && value !== null) next.push(value)
      }
    level = next
  }
  return null
}
