import { type JsonChannel, json_channels } from '../core/json/channels.ts'
import { readJson } from '../core/json/parse-json.ts'
import { Quote, QuotingError } from '../core/secrets/quote.ts'
import type { ExecResult } from '../sandbox/port.ts'

/** Bytes of all messages of a process. */
const MAX_TOTAL_BYTES = 512 * 1024 * 1024
/** Lines that are not messages: some programs print notices. */
const MAX_OTHER_LINES = 200
/** Characters of a program's text that an error quotes. */
export const MAX_SHOWN_CHARACTERS = 1_000

/** Whose messages they are: those of an agent, or of an MCP server. */
type MessageChannel = Extract<JsonChannel, 'agent_message' | 'mcp_message'>

/** A program does not keep to the protocol. The message is for people. */
export class AgentProtocolError extends QuotingError {
  override name = 'AgentProtocolError'
}

export type Message = Record<string, unknown>

/**
 * Splits the standard output of an agent into JSON-RPC messages, one per line (ACP, stdio transport). `add`
 * passes them to `on_message` one after another and resolves when that has taken them. Rejects with
 * AgentProtocolError for a message that exceeds a bound of its channel, too many bytes and too much that is
 * not a message.
 */
export function createMessageSplitter(
  channel: MessageChannel,
  on_message: (message: Message) => Promise<void> | void,
): { add(chunk: Uint8Array): Promise<void> } {
  const max_message_bytes = json_channels[channel].bytes
  const decoder = new TextDecoder()
  let line: string[] = []
  let length = 0
  let total = 0
  let others = 0
  const take = async (text: string) => {
    if (text.trim() === '') return
    const message = parseMessage(channel, text)
    if (message !== null) return on_message(message)
    others++
    if (others > MAX_OTHER_LINES)
      throw new AgentProtocolError(
        'It prints text that is not a message of the protocol, for example:',
        new Quote(JSON.stringify(text), 200),
      )
  }
  return {
    async add(chunk) {
      total += chunk.length
      if (total > MAX_TOTAL_BYTES)
        throw new AgentProtocolError(`It printed more than ${MAX_TOTAL_BYTES} bytes.`)
      const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n')
      line.push(first)
      length += first.length
      for (const next of rest) {
        const text = line.join('')
        ;[line, length] = [[next], next.length]
        await take(text)
      }
      if (length > max_message_bytes)
        throw new AgentProtocolError(`A message has more than ${max_message_bytes} bytes.`)
    },
  }
}

/** Null: the line is not a message. */
function parseMessage(channel: MessageChannel, text: string): Message | null {
  const { value, problem } = readJson(channel, text)
  if (problem !== undefined && problem.limit !== null)
    throw new AgentProtocolError(`A message ${problem.message}.`)
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'jsonrpc' in value
    ? (value as Message)
    : null
}

/**
 * Returns the message of an error for people, and what it quotes: how a program that speaks the protocol has
 * ended.
 */
export function describedEnd({
  status,
  exit_code,
  output,
}: ExecResult): [message: string, quote: Quote | null] {
  const how = status === 'exited' ? `ended with exit code ${exit_code}` : `was ended: ${status}`
  const text = Buffer.from(output).toString().trim()
  return text === ''
    ? [`It ${how}.`, null]
    : [`It ${how}. Its last output:`, new Quote(text, MAX_SHOWN_CHARACTERS, 'end')]
}
