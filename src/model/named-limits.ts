/** What a refusal states about the limits of a model, in tokens. `input_tokens`: what the request has, where the provider has counted it. */
export type NamedLimits = { max_output_tokens?: number; context_tokens?: number; input_tokens?: number }

const MAX_TOKENS = 100_000_000

/** How servers name the limit of a response: Anthropic, OpenAI, DeepSeek, DashScope, Volcengine, Groq, Gemini, Bedrock, Cohere and gateways. */
const OUTPUT = [
  /max_tokens: \d+ > (\d+), which is the maximum allowed/i,
  /supports at most (\d+) (?:completion|output) tokens/i,
  /\brange\b[^[\]]{0,80}\[ ?\d+ ?, ?(\d+) ?\]/i,
  /max_(?:completion_|output_)?tokens\b.{0,120}expected a value <= (\d+)/i,
  /max_(?:completion_|output_)?tokens\b.{0,60}must be between \d+ and (\d+)/i,
  /max[_ ](?:completion_|output_)?tokens\W{0,3} must be (?:less than or equal to|<=|at most) `?(\d+)/i,
  /the maximum tokens you requested exceeds the model limit of (\d+)/i,
]
/** Exclusive. */
const OUTPUT_END = /supported range is from \d+ \(inclusive\) to (\d+) \(exclusive\)/i

/** How they name the window: vLLM, SGLang, OpenAI, Anthropic, text-generation-inference, llama.cpp, Gemini and gateways. */
const CONTEXT = [
  /maximum context length (?:is|of) (\d+)/i,
  /exceed context limit: \d+ \+ \d+ > (\d+)/i,
  /prompt is too long: \d+ tokens > (\d+) maximum/i,
  /must be <= (\d+)\. given: \d+ `?inputs`? tokens/i,
  /context length \((\d+) tokens\)/i,
  /maximum number of tokens allowed \((\d+)\)/i,
  /available context size \((\d+) tokens\)/i,
]
const INPUT = [
  /your request has (\d+) input tokens/i,
  /(\d+) tokens from the input messages/i,
  /\((\d+) in (?:the messages|your prompt)/i,
  /exceed context limit: (\d+) \+ \d+ >/i,
  /given: (\d+) `?inputs`? tokens/i,
  /messages resulted in (\d+) tokens/i,
  /prompt is too long: (\d+) tokens >/i,
  /\bthe input(?: token count)? \((\d+)(?: tokens)?\)/i,
]
/** OpenRouter counts text and tools apart. */
const INPUT_PARTS = /(\d+) of (?:text|tool|image) input/gi

/** Reads a refusal in one line. Numbers that no model can have are left out. */
export function namedLimits(message: string): NamedLimits {
  const first = (patterns: RegExp[]) => patterns.map(pattern => pattern.exec(message)?.[1]).find(found => found !== undefined)
  const end = OUTPUT_END.exec(message)?.[1]
  const parts = [...message.matchAll(INPUT_PARTS)].map(([, tokens]) => Number(tokens))
  const input = first(INPUT) ?? (parts.length > 0 ? parts.reduce((sum, tokens) => sum + tokens, 0) : undefined)
  const limits = {
    max_output_tokens: end === undefined ? Number(first(OUTPUT)) : Number(end) - 1,
    context_tokens: Number(first(CONTEXT)),
    input_tokens: Number(input),
  }
  return Object.fromEntries(Object.entries(limits).filter(([, tokens]) => tokens >= 1 && tokens <= MAX_TOKENS))
}

/** The provider does not take this effort, or none at all: the field, its value or the thinking of the model is not supported. */
export function refusesEffort(message: string): boolean {
  return (
    /reasoning|thinking|output_config|\beffort\b|encrypted content/i.test(message) &&
    /not support|unsupported|unrecognized|unknown|unexpected|not permitted|not allowed|no longer|invalid|must be verified|input should be/i.test(
      message,
    ) &&
    !/expected `?(thinking|redacted_thinking)|signature/i.test(message)
  )
}
