import type { ModelApi } from '../contract/model-settings.ts'
import { GatewayRefusal } from './gateway-refusal.ts'
import { withoutProviderTools } from './provider-tools.ts'

type Json = Record<string, unknown>

/**
 * Fields of a request that only concern what the model reads and writes. Others may name stored objects,
 * prices, other models or tools of the provider.
 */
const FIELDS: Record<ModelApi, readonly string[]> = {
  'openai-chat': [
    ...[
      'model',
      'messages',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'stream',
      'stream_options',
      'max_tokens',
      'max_completion_tokens',
    ],
    ...[
      'temperature',
      'top_p',
      'top_k',
      'min_p',
      'stop',
      'seed',
      'presence_penalty',
      'frequency_penalty',
      'response_format',
      'logit_bias',
    ],
    ...[
      'reasoning_effort',
      'reasoning',
      'thinking',
      'enable_thinking',
      'chat_template_kwargs',
      'verbosity',
      'prompt_cache_key',
      'user',
    ],
  ],
  'openai-responses': [
    ...[
      'model',
      'input',
      'instructions',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'stream',
      'max_output_tokens',
      'temperature',
    ],
    ...[
      'top_p',
      'reasoning',
      'text',
      'include',
      'truncation',
      'prompt_cache_key',
      'user',
      'safety_identifier',
    ],
  ],
  'anthropic-messages': [
    ...[
      'model',
      'messages',
      'system',
      'tools',
      'tool_choice',
      'stream',
      'max_tokens',
      'temperature',
      'top_p',
      'top_k',
      'stop_sequences',
    ],
    ...['thinking', 'output_config', 'context_management', 'metadata'],
  ],
  'google-generate-content': [
    'contents',
    'systemInstruction',
    'system_instruction',
    'tools',
    'toolConfig',
    'tool_config',
    'generationConfig',
    'safetySettings',
  ],
}

/** A body without what the provider would do itself, and the tools of the provider that it listed. */
type SafeBody = { body: Json; dropped: string[] }

/**
 * Returns a request without what the provider would do in addition to the call of the model: tools that run
 * there are dropped. Throws GatewayRefusal 400 for a request that forces one of them, and for content that
 * the provider would fetch or has stored: nothing reaches another host by way of the model.
 */
export function safeBody(api: ModelApi, body: Json): SafeBody {
  const fields = Object.fromEntries(Object.entries(body).filter(([name]) => FIELDS[api].includes(name)))
  const safe = withoutProviderTools(api, fields)
  visitContent(safe.body, requireInline)
  return safe
}

const CONTENT = ['messages', 'input', 'contents', 'system', 'systemInstruction', 'system_instruction']
/** What a model is called with, and what a tool returned, is data of the program. */
const DATA = new Set(['arguments', 'args', 'parameters', 'functionCall'])
const REFERENCES = new Set([
  'url',
  'image_url',
  'file_url',
  'fileUri',
  'file_uri',
  'file_id',
  'file_data',
  'container_id',
])
const MAX_DEPTH = 64

type Visit = (name: string, text: string, holder: Json) => void

/** Calls `visit` with each text that has a name in what the model reads, except in data of the program. */
function visitContent(body: Json, visit: Visit): void {
  for (const name of CONTENT) visitTexts(body[name], name, visit, 0)
}

/** `field`: the name that `value` has. */
function visitTexts(value: unknown, field: string, visit: Visit, depth: number): void {
  if (depth > MAX_DEPTH) throw new GatewayRefusal(400, `The request is nested more than ${MAX_DEPTH} levels.`)
  if (Array.isArray(value)) for (const item of value) visitTexts(item, field, visit, depth + 1)
  if (!isObject(value)) return
  for (const [name, inner] of Object.entries(value)) {
    if (DATA.has(name) || (name === 'input' && value.type === 'tool_use')) continue
    // The other fields of a result of a function are content that the provider reads.
    if (name === 'response' && (field === 'functionResponse' || field === 'function_response')) continue
    if (typeof inner === 'string') visit(name, inner, value)
    else visitTexts(inner, name, visit, depth + 1)
  }
}

const requireInline: Visit = (name, text) => {
  if (REFERENCES.has(name) && !text.startsWith('data:'))
    throw new GatewayRefusal(400, `Content by ${name} is not available here: send it as a data URL.`)
}

/** Beta features of Anthropic that change neither price nor what is reached. */
const BETA =
  /^(interleaved-thinking|fine-grained-tool-streaming|prompt-caching|extended-cache-ttl|token-efficient-tools|claude-code|effort|context-management|structured-outputs)-[\w-]+$/

export const safeBeta = (header: string): string =>
  header
    .split(',')
    .map(name => name.trim())
    .filter(name => BETA.test(name))
    .join(',')

/** Base64 of this length and more is counted as one picture. */
const MIN_PICTURE_CHARACTERS = 2_000
const PICTURE_BYTES = 6_000
const PICTURE = /^image\/(?!svg)[\w.+-]+$/
const PICTURE_URL = /^data:image\/(?!svg)[\w.+-]+;base64,[\w+/=-]+$/
const BASE64 = /^[\w+/=-]+$/

/**
 * Returns the bytes of a request that become tokens: providers count pictures by their size, not by the
 * length of their base64. Everything else, such as documents in base64, counts with its length.
 */
export function textBytes(body: Json): number {
  let bytes = Buffer.byteLength(JSON.stringify(body))
  visitContent(body, (name, text, holder) => {
    if (text.length >= MIN_PICTURE_CHARACTERS && isPicture(name, text, holder))
      bytes += PICTURE_BYTES - text.length
  })
  return bytes
}

/** A picture is a data URL, or base64 beside its type: `source` of Anthropic, `inlineData` of Gemini. */
function isPicture(name: string, text: string, { type, media_type, mimeType, mime_type }: Json): boolean {
  if (name === 'url' || name === 'image_url') return PICTURE_URL.test(text)
  const types = [media_type, mimeType, mime_type].filter(stated => stated !== undefined)
  const are_pictures =
    types.length > 0 && types.every(stated => typeof stated === 'string' && PICTURE.test(stated))
  return name === 'data' && (type === undefined || type === 'base64') && are_pictures && BASE64.test(text)
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
