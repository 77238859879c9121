import type { ModelApi } from '../contract/model-settings.ts'
import { GatewayRefusal } from './gateway-refusal.ts'

type Json = Record<string, unknown>

/** Fields of a request that only concern what the model reads and writes. Others may name stored objects, prices, other models or tools of the provider. */
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
    ...['temperature', 'top_p', 'top_k', 'min_p', 'stop', 'seed', 'presence_penalty', 'frequency_penalty', 'response_format', 'logit_bias'],
    ...['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs', 'verbosity', 'prompt_cache_key', 'user'],
  ],
  'openai-responses': [
    ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'stream', 'max_output_tokens', 'temperature'],
    ...['top_p', 'reasoning', 'text', 'include', 'truncation', 'prompt_cache_key', 'user', 'safety_identifier'],
  ],
  'anthropic-messages': [
    ...['model', 'messages', 'system', 'tools', 'tool_choice', 'stream', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences'],
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

/** Tools that run at the program. Those of a provider would reach hosts that the network rules of the run forbid. */
const isToolOfProgram: Record<ModelApi, (tool: Json) => boolean> = {
  'openai-chat': ({ type }) => type === 'function' || type === 'custom',
  'openai-responses': tool => isToolOfResponses(tool) || (tool.type === 'namespace' && areAll(isToolOfResponses, tool.tools)),
  'anthropic-messages': ({ type }) =>
    type === undefined || type === 'custom' || /^(bash|text_editor|memory|computer)_\d+$/.test(String(type)),
  'google-generate-content': tool => Object.keys(tool).every(key => key === 'functionDeclarations' || key === 'function_declarations'),
}

const isToolOfResponses = ({ type }: Json) => type === 'function' || type === 'custom' || type === 'local_shell'
const areAll = (is: (tool: Json) => boolean, tools: unknown): boolean =>
  Array.isArray(tools) && tools.every(tool => isObject(tool) && is(tool))

/**
 * Returns a request without what the provider would do besides calling the model. Throws GatewayRefusal 400 for tools that run at the provider and
 * for content that it would fetch or has stored: nothing reaches another host by way of the model.
 */
export function safeBody(api: ModelApi, body: Json): Json {
  const safe = Object.fromEntries(Object.entries(body).filter(([name]) => FIELDS[api].includes(name)))
  // Codex adds tools as parts of the conversation.
  const added = api === 'openai-responses' && Array.isArray(safe.input) ? safe.input.filter(isObject).map(({ tools }) => tools) : []
  for (const tools of [safe.tools, ...added])
    if (tools !== undefined && tools !== null && !areAll(isToolOfProgram[api], tools))
      throw new GatewayRefusal(400, 'Tools that run at the provider are not available here.')
  for (const name of ['messages', 'input', 'contents', 'system', 'systemInstruction', 'system_instruction']) requireInline(safe[name], 0)
  return safe
}

/** What a model is called with, and what a tool returned, is data of the program. */
const DATA = new Set(['arguments', 'args', 'parameters', 'response', 'functionResponse', 'functionCall'])
const REFERENCES = new Set(['url', 'image_url', 'file_url', 'fileUri', 'file_uri', 'file_id', 'file_data', 'container_id'])
const MAX_DEPTH = 64

function requireInline(value: unknown, depth: number): void {
  if (depth > MAX_DEPTH) throw new GatewayRefusal(400, `The request is nested more than ${MAX_DEPTH} levels.`)
  if (Array.isArray(value)) for (const item of value) requireInline(item, depth + 1)
  if (!isObject(value)) return
  for (const [name, inner] of Object.entries(value)) {
    if (DATA.has(name) || (name === 'input' && value.type === 'tool_use')) continue
    if (REFERENCES.has(name) && typeof inner === 'string' && !inner.startsWith('data:'))
      throw new GatewayRefusal(400, `Content by ${name} is not available here: send it as a data URL.`)
    requireInline(inner, depth + 1)
  }
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
const PICTURE_FIELDS = new Set(['data', 'url', 'image_url', 'file_data'])

/** Returns the bytes of a request that become tokens: providers count pictures by their size, not by the length of their base64. */
export function textBytes(body: Json): number {
  let pictures = 0
  const text = JSON.stringify(body, (name, value: unknown) => {
    if (typeof value !== 'string' || value.length < MIN_PICTURE_CHARACTERS || !PICTURE_FIELDS.has(name)) return value
    if (!/^(data:[\w/+.-]+;base64,)?[\w+/=-]+$/.test(value.slice(0, 200))) return value
    pictures++
    return ''
  })
  return Buffer.byteLength(text) + pictures * PICTURE_BYTES
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
