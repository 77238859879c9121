import { imagesOf } from '../core/text/tool-result-text.ts'
import type { ModelMessage, ModelResponse, ModelUsage, ToolSpec } from '../model/port.ts'

/**
 * Few texts have more tokens than this, and scripts that have no short ones take several bytes a character.
 */
const BYTES_A_TOKEN = 3
/** Providers count pictures by their size, never by the length of their base64. */
const FILE_TOKENS = 2_000

/**
 * The first `messages` messages of a conversation, and the tokens that a provider counted for them as input.
 */
export type CountedPrefix = { messages: number; tokens: number }

export type TokenEstimate = {
  /** From now on conversations have these tools. Called before anything is counted. */
  setTools(tools: ToolSpec[]): void
  /**
   * Tokens of this conversation as input: rather too many than too few, except for the part that a provider
   * has counted.
   */
  of(messages: ModelMessage[]): number
  /** The same without the counts of providers, so that parts of conversations can be compared. */
  measured(messages: ModelMessage[]): number
  /** Takes the provider's own count of a request and its response. */
  counted(messages: ModelMessage[], response: Pick<ModelResponse, 'messages' | 'usage'>): void
  /** Takes the last such count from the journal of `messages`; null: there is none. */
  restore(messages: ModelMessage[], counted: CountedPrefix | null): void
}

/**
 * Returns an estimate for a conversation that grows: each message is measured once, and what a provider has
 * counted is not measured.
 */
export function createTokenEstimate(instructions: string, tools: ToolSpec[]): TokenEstimate {
  const sizes = new WeakMap<ModelMessage, number>()
  const fixed = (specs: ToolSpec[]) => textTokens(instructions) + textTokens(JSON.stringify(specs))
  let none = { messages: 0, last: undefined as ModelMessage | undefined, tokens: fixed(tools) }
  let known = none
  const sizeOf = (message: ModelMessage): number => {
    const size = sizes.get(message) ?? messageTokens(message)
    sizes.set(message, size)
    return size
  }
  const sum = (messages: ModelMessage[], from: typeof none) =>
    messages.slice(from.messages).reduce((tokens, message) => tokens + sizeOf(message), from.tokens)
  return {
    setTools(specs) {
      none = { ...none, tokens: fixed(specs) }
      known = none
    },
    // A conversation that was compacted is another one.
    of: messages => sum(messages, messages[known.messages - 1] === known.last ? known : none),
    measured: messages => sum(messages, none),
    counted(messages, { messages: received, usage }) {
      const tokens = countedTokensOf(usage)
      if (tokens === null) return
      known = {
        messages: messages.length + received.length,
        last: received.at(-1) ?? messages.at(-1),
        tokens,
      }
    },
    restore(messages, counted) {
      known = counted === null ? none : { ...counted, last: messages[counted.messages - 1] }
    },
  }
}

/** Whether the provider did not report all counts of a call. Scripted calls have none. */
export const isEstimated = ({
  raw,
  input_tokens,
  output_tokens,
}: Pick<ModelUsage, 'raw' | 'input_tokens' | 'output_tokens'>): boolean =>
  raw === null && input_tokens + output_tokens > 0

/**
 * Tokens of a request and its response by the provider's count; null: the adapter estimated them, because the
 * provider did not count.
 */
export const countedTokensOf = ({
  raw,
  input_tokens,
  output_tokens,
}: ModelResponse['usage']): number | null => (raw === null ? null : input_tokens + output_tokens)

function messageTokens({ content }: ModelMessage): number {
  if (typeof content === 'string') return textTokens(content)
  return content.reduce((sum, part) => sum + (part.type === 'file' ? FILE_TOKENS : partTokens(part)), 0)
}

/** The images of a result are sent as files. */
function partTokens(part: object): number {
  const images = 'output' in part ? imagesOf(part.output) : []
  if (images.length === 0) return textTokens(JSON.stringify(part))
  const text = JSON.stringify(part, (key, value) => (key === 'images' ? undefined : value))
  return textTokens(text) + images.length * FILE_TOKENS
}

const textTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN)
