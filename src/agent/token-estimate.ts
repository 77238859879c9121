import type { ModelAnswer, ModelMessage, ToolSpec } from '../model/port.ts'

/** Few texts have more tokens than this, and scripts that have no short ones take several bytes a character. */
const BYTES_A_TOKEN = 3
/** Providers count pictures by their size, never by the length of their base64. */
const FILE_TOKENS = 2_000

export type TokenEstimate = {
  /** Tokens that this conversation is as input, rather too many than too few. */
  of(messages: ModelMessage[]): number
  /** Takes the provider's own count of a request and its answer. */
  counted(messages: ModelMessage[], answer: ModelAnswer): void
}

/** For a conversation that grows: each message is measured once, and what a provider has counted never again. */
export function createTokenEstimate(instructions: string, tools: ToolSpec[]): TokenEstimate {
  const fixed = textTokens(instructions) + textTokens(JSON.stringify(tools))
  let known: { messages: number; last: ModelMessage | undefined; tokens: number } = { messages: 0, last: undefined, tokens: fixed }
  return {
    of(messages) {
      // A conversation that was cut down is another one.
      if (messages[known.messages - 1] !== known.last) known = { messages: 0, last: undefined, tokens: fixed }
      const tokens = messages.slice(known.messages).reduce((sum, message) => sum + messageTokens(message), known.tokens)
      known = { messages: messages.length, last: messages.at(-1), tokens }
      return tokens
    },
    counted(messages, { messages: answered, usage }) {
      // Not counted but estimated: by the adapter, which knows no better.
      if (usage.raw === null) return
      const all = messages.length + answered.length
      known = { messages: all, last: answered.at(-1) ?? messages.at(-1), tokens: usage.input_tokens + usage.output_tokens }
    },
  }
}

function messageTokens({ content }: ModelMessage): number {
  if (typeof content === 'string') return textTokens(content)
  return content.reduce((sum, part) => sum + (part.type === 'file' ? FILE_TOKENS : textTokens(JSON.stringify(part))), 0)
}

const textTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN)
