import type { ModelApi } from '../contract/model-settings.ts'
import type { ModelEndpoint } from '../model/port.ts'
import { safeBeta } from './safe-body.ts'

type Json = Record<string, unknown>

/**
 * What a program requests of the gateway. `count`: tokens are counted, which costs nothing. `model` null: the
 * body names it.
 */
export type Operation =
  | { kind: 'generate'; api: ModelApi; model: string | null; stream: boolean | null }
  | { kind: 'count'; api: ModelApi; model: string | null }
  | { kind: 'models' }

const PATHS: [RegExp, Operation][] = [
  [/^\/v1\/chat\/completions$/, { kind: 'generate', api: 'openai-chat', model: null, stream: null }],
  [/^\/v1\/responses$/, { kind: 'generate', api: 'openai-responses', model: null, stream: null }],
  [/^\/v1\/messages$/, { kind: 'generate', api: 'anthropic-messages', model: null, stream: null }],
  [/^\/v1\/messages\/count_tokens$/, { kind: 'count', api: 'anthropic-messages', model: null }],
]
const GOOGLE = /^\/v1(?:beta)?\/models\/([\w.:@-]+):(generateContent|streamGenerateContent|countTokens)$/

/**
 * Returns the operation of a request; null: the gateway has none there. Only the path counts: a host or a
 * query names no other address.
 */
export function operationAt(method: string, path: string): Operation | null {
  if (method === 'GET' && path === '/v1/models') return { kind: 'models' }
  if (method !== 'POST') return null
  const known = PATHS.find(([pattern]) => pattern.test(path))
  if (known !== undefined) return known[1]
  const [, model, verb] = GOOGLE.exec(path) ?? []
  if (model === undefined) return null
  const api = 'google-generate-content'
  return verb === 'countTokens'
    ? { kind: 'count', api, model }
    : { kind: 'generate', api, model, stream: verb === 'streamGenerateContent' }
}

/** Returns the address of an operation at the provider. */
export function addressOf(
  { base_url, name }: ModelEndpoint,
  operation: Exclude<Operation, { kind: 'models' }>,
  stream: boolean,
): string {
  const { api, kind } = operation
  const google_verb =
    kind === 'count' ? 'countTokens' : stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const paths: Record<ModelApi, string> = {
    'openai-chat': 'chat/completions',
    'openai-responses': 'responses',
    'anthropic-messages': kind === 'count' ? 'messages/count_tokens' : 'messages',
    'google-generate-content': `models/${name}:${google_verb}`,
  }
  return `${base_url}/${paths[api]}`
}

/**
 * Headers that a provider reads in addition to its key. Nothing else of the program's request is forwarded.
 */
const FORWARDED = ['anthropic-version']

/** Returns the headers of a request to the provider, with the key of the service. */
export function headersOf(
  { api, api_key }: ModelEndpoint,
  received: Record<string, unknown>,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  for (const name of FORWARDED) if (typeof received[name] === 'string') headers[name] = received[name]
  if (api === 'anthropic-messages') headers['anthropic-version'] ??= '2023-06-01'
  const beta =
    api === 'anthropic-messages' && typeof received['anthropic-beta'] === 'string'
      ? safeBeta(received['anthropic-beta'])
      : ''
  if (beta !== '') headers['anthropic-beta'] = beta
  return api_key === null ? headers : { ...headers, ...keyHeaders(api, api_key) }
}

function keyHeaders(api: ModelApi, api_key: string): Record<string, string> {
  const bearer = { authorization: `Bearer ${api_key}` }
  const by_api: Record<ModelApi, Record<string, string>> = {
    'openai-chat': bearer,
    'openai-responses': bearer,
    'anthropic-messages': { 'x-api-key': api_key },
    'google-generate-content': { 'x-goog-api-key': api_key },
  }
  return by_api[api]
}

/**
 * Returns the body for the provider: the name of the model there, at most `max_output_tokens` in one
 * response, and a stream that reports its usage.
 */
export function bodyFor(
  { api, name }: ModelEndpoint,
  body: Json,
  stream: boolean,
  max_output_tokens: number,
): Json {
  switch (api) {
    case 'google-generate-content':
      return googleBody(body, max_output_tokens)
    case 'anthropic-messages':
      return { ...body, model: name, max_tokens: lower(body.max_tokens, max_output_tokens) }
    case 'openai-responses':
      return {
        ...body,
        model: name,
        // Nothing is stored at the provider.
        store: false,
        max_output_tokens: lower(body.max_output_tokens, max_output_tokens),
      }
    case 'openai-chat':
      return chatBody(name, body, stream, max_output_tokens)
  }
}

function googleBody(body: Json, max_output_tokens: number): Json {
  const config = isObject(body.generationConfig) ? body.generationConfig : {}
  return {
    ...body,
    generationConfig: {
      ...config,
      candidateCount: 1,
      maxOutputTokens: lower(config.maxOutputTokens, max_output_tokens),
    },
  }
}

function chatBody(name: string, body: Json, stream: boolean, max_output_tokens: number): Json {
  const options = isObject(body.stream_options) ? body.stream_options : {}
  const { max_tokens, max_completion_tokens, ...rest } = body
  const limit = max_completion_tokens === undefined ? 'max_tokens' : 'max_completion_tokens'
  return {
    ...rest,
    model: name,
    n: 1,
    [limit]: lower(max_completion_tokens ?? max_tokens, max_output_tokens),
    ...(stream && { stream_options: { ...options, include_usage: true } }),
  }
}

/** Returns the output limit that the program set itself; infinite without one. */
export function wantedOutput(api: ModelApi, body: Json): number {
  const config = isObject(body.generationConfig) ? body.generationConfig : {}
  const fields: Record<ModelApi, unknown> = {
    'openai-chat': body.max_completion_tokens ?? body.max_tokens,
    'openai-responses': body.max_output_tokens,
    'anthropic-messages': body.max_tokens,
    'google-generate-content': config.maxOutputTokens,
  }
  return lower(fields[api], Number.POSITIVE_INFINITY)
}

/** Returns an error as clients of the format read it. */
export function errorBody(api: ModelApi, status: number, message: string): Json {
  const unknown_model = status === 404
  const of_openai = {
    message,
    type: 'invalid_request_error',
    code: unknown_model ? 'model_not_found' : null,
    param: null,
  }
  const bodies: Record<ModelApi, Json> = {
    'openai-chat': { error: of_openai },
    'openai-responses': { error: of_openai },
    'anthropic-messages': {
      type: 'error',
      error: { type: unknown_model ? 'not_found_error' : 'invalid_request_error', message },
    },
    'google-generate-content': {
      error: { code: status, message, status: unknown_model ? 'NOT_FOUND' : 'INVALID_ARGUMENT' },
    },
  }
  return bodies[api]
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const lower = (wanted: unknown, limit: number): number =>
  typeof wanted === 'number' && wanted >= 1 ? Math.min(Math.floor(wanted), limit) : limit
