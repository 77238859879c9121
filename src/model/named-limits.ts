/**
 * What a refusal states about the limits of a model, in tokens. `max_input_tokens`: the limit of the input
 * alone. `input_tokens`: what the request has, where the provider has counted it; `requested_tokens`:
 * together with the response.
 */
export type NamedLimits = {
  max_output_tokens?: number
  context_tokens?: number
  max_input_tokens?: number
  input_tokens?: number
  requested_tokens?: number
}

const MAX_TOKENS = 100_000_000

/**
 * How servers name the limit of a response: Anthropic, OpenAI, DeepSeek, DashScope, Zhipu, Volcengine, Groq,
 * Gemini, Bedrock, Cohere and gateways.
 */
const OUTPUT = [
  /max_tokens: \d+ > (\d+), which is the maximum allowed/i,
  /supports at most (\d+) (?:completion|output) tokens/i,
  /max_(?:completion_|output_|new_)?tokens\b[^[\]]{0,80}\[ ?\d+ ?, ?(\d+) ?\]/i,
  /max_(?:completion_|output_)?tokens\b.{0,120}expected a value <= (\d+)/i,
  /max_(?:completion_|output_)?tokens\b.{0,60}must be between \d+ and (\d+)/i,
  /max[_ ](?:completion_|output_)?tokens\W{0,3} must be (?:less than or equal to|<=|at most) `?(\d+)/i,
  /the maximum tokens you requested exceeds the model limit of (\d+)/i,
]
/** Exclusive. */
const OUTPUT_END = /supported range is from \d+ \(inclusive\) to (\d+) \(exclusive\)/i

/**
 * How they name the window: vLLM, SGLang, OpenAI, Anthropic, text-generation-inference, llama.cpp, LM Studio,
 * Gemini, Kimi, Cerebras, Mistral.
 */
const CONTEXT = [
  /maximum (?:context|model) length(?: is| of|:)? \(?(\d+)/i,
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  /prompt is too long: \d+ tokens > (\d+) maximum/i,
  /must be <= (\d+)\. given: \d+ `?inputs`? tokens/i,
  /context length \((\d+) tokens\)/i,
  /\(context length (\d+)\)/i,
  /context length of only (\d+)/i,
  /maximum number of tokens allowed \((\d+)\)/i,
  /available context size \((\d+) tokens\)/i,
  /configured context size is (\d+)/i,
  /exceeded model token limit: (\d+)/i,
  /current length is \d+ while limit is (\d+)/i,
  /with (\d+) maximum context length/i,
]
/** How they name the limit of the input: DashScope, xAI, text-generation-inference, Copilot. */
const MAX_INPUT = [
  /range of input length should be \[ ?\d+ ?, ?(\d+) ?\]/i,
  /maximum prompt length is (\d+)/i,
  /exceeds budget \((\d+) tokens\)/i,
  /`inputs` must have less than (\d+) tokens/i,
  /prompt token count of \d+ exceeds the limit of (\d+)/i,
  /maximum allowed input length of (\d+)/i,
]
const INPUT = [
  /your request has (\d+) input tokens/i,
  /(?<!\d)(\d+) tokens from the input messages/i,
  /\((\d+) in (?:the messages|your prompt)/i,
  /exceed context limit: (\d+) \+ \d+ >/i,
  /given: (\d+) `?inputs`? tokens/i,
  /messages resulted in (\d+) tokens/i,
  /prompt is too long: (\d+)/i,
  /prompt contains (\d+) tokens/i,
  /request \((\d+) tokens\) exceeds/i,
  /keep the first (\d+) tokens/i,
  /\bthe input(?: token count)? \((\d+)(?: tokens)?\)/i,
  /prompt (?:\((?:total )?length|length of) (\d+)\)? is (?:longer than|too long)/i,
]
const REQUESTED = [
  /exceeded model token limit: \d+ \(requested: (\d+)\)/i,
  /current length is (\d+) while limit is/i,
]
/** OpenRouter counts text and tools apart. */
const INPUT_PARTS = /(?<!\d)(\d+) of (?:text|tool|image) input/gi
const THOUSANDS = /(?<=\d),(?=\d{3}(?!\d))/g

/** Reads a refusal in one line. Numbers that no model can have are left out. */
export function namedLimits(refusal: string): NamedLimits {
  const message = refusal.replace(THOUSANDS, '')
  const first = (patterns: RegExp[]) =>
    patterns.map(pattern => pattern.exec(message)?.[1]).find(found => found !== undefined)
  const end = OUTPUT_END.exec(message)?.[1]
  const parts = [...message.matchAll(INPUT_PARTS)].map(([, tokens]) => Number(tokens))
  const input =
    first(INPUT) ?? (parts.length > 0 ? parts.reduce((sum, tokens) => sum + tokens, 0) : undefined)
  const limits = {
    max_output_tokens: end === undefined ? Number(first(OUTPUT)) : Number(end) - 1,
    context_tokens: Number(first(CONTEXT)),
    max_input_tokens: Number(first(MAX_INPUT)),
    input_tokens: Number(input),
    requested_tokens: Number(first(REQUESTED)),
  }
  return Object.fromEntries(
    Object.entries(limits).filter(([, tokens]) => tokens >= 1 && tokens <= MAX_TOKENS),
  )
}

/** Messages about a conversation that is too long; most providers have no code for it. */
const FULL_CONTEXT = new RegExp(
  [
    'context.?(length|window|size|limit)',
    'maximum context',
    '(prompt|input) is too long',
    'too many (input )?tokens',
    'tokens? limit exceeded',
    'tokens in request more than max',
    'reduce the length of the (messages|input|prompt)',
    'input_too_large',
    'token count .{0,40}exceeds',
    'exceeds? .{0,60}(context|max(imum)? (number of )?(input )?tokens)',
  ].join('|'),
  'i',
)
/** Addresses of documentation name what their page is about. */
const ADDRESSES = /https?:\/\/\S+/g
export const withoutAddresses = (text: string): string => text.replace(ADDRESSES, '')

/**
 * Returns whether the conversation, alone or with the longest response, is too long. A limit of the response
 * alone is not about it.
 */
export function exceedsContext(refusal: string): boolean {
  const text = withoutAddresses(refusal)
  const { max_output_tokens, context_tokens, max_input_tokens } = namedLimits(text)
  if (context_tokens !== undefined || max_input_tokens !== undefined) return true
  return max_output_tokens === undefined && FULL_CONTEXT.test(text)
}

/**
 * Returns whether the provider does not take this effort, or none at all: the field, its value or the
 * thinking of the model is not supported.
 */
export function refusesEffort(message: string): boolean {
  return (
    /reasoning|thinking|output_config|\beffort\b|encrypted content/i.test(message) &&
    /not support|unsupported|unrecognized|unknown|unexpected|not permitted|not allowed|no longer|invalid|must be verified|input should be/i.test(
      message,
    ) &&
    !/expected `?(thinking|redacted_thinking)|signature/i.test(message)
  )
}
