import { parseJson } from '../core/json/parse-json.ts'

/** A longer body is a page or an echo of the request, and no text about an error. */
const MAX_BODY_CHARS = 65_536
const MAX_DEPTH = 8

const TEXT_FIELDS = ['error', 'message', 'detail', 'errors', 'msg']
const WORD_FIELDS = ['type', 'code', 'status', 'error_type']

/** `words`: the machine-readable ones of a provider about its refusal: type, code, status. */
type Refusal = { text: string; words: string[] }

/**
 * Returns what the body of a refusal states; null: nothing readable. Anthropic, Google and OpenAI have the
 * text at `error.message`; Cerebras, SGLang and older vLLM at `message`; xAI and text-generation-inference at
 * `error`; FastAPI at `detail`. Gateways quote the body of the provider behind them as JSON, in
 * `metadata.raw` (OpenRouter) or in the message.
 */
export function readRefusal(body: unknown, depth = 0): Refusal | null {
  if (depth > MAX_DEPTH) return null
  if (typeof body === 'string') return readText(body, depth)
  if (typeof body !== 'object' || body === null) return null
  if (Array.isArray(body)) return joined(body.map(item => readRefusal(item, depth + 1)))
  const fields = record(body)
  const words = WORD_FIELDS.map(name => fields[name]).filter(word => typeof word === 'string')
  for (const field of [record(fields.metadata).raw, ...TEXT_FIELDS.map(name => fields[name])]) {
    const inner = readRefusal(field, depth + 1)
    if (inner !== null) return { text: located(fields.loc, inner.text), words: [...words, ...inner.words] }
  }
  return null
}

function readText(body: string, depth: number): Refusal | null {
  const text = body.trim()
  if (text === '' || text.length > MAX_BODY_CHARS || text.startsWith('<')) return null
  const value = /^[[{"]/.test(text) ? parseJson('model_error', text) : undefined
  return value === undefined ? { text, words: [] } : readRefusal(value, depth + 1)
}

function joined(items: (Refusal | null)[]): Refusal | null {
  const found = items.filter(item => item !== null)
  return found.length === 0
    ? null
    : { text: found.map(({ text }) => text).join('; '), words: found.flatMap(({ words }) => words) }
}

/** FastAPI names the invalid field apart from the text: `["body", "max_tokens"]`. */
const located = (loc: unknown, text: string) =>
  Array.isArray(loc) && loc.length > 0 ? `${loc.join('.')}: ${text}` : text

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
