/** Bytes of one message, and of all messages of a process. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
const MAX_TOTAL_BYTES = 512 * 1024 * 1024
/** Lines that are no messages: some programs print notices. */
const MAX_OTHER_LINES = 200

/** A program does not keep to the protocol. The message is for people. */
export class AgentProtocolError extends Error {
  override name = 'AgentProtocolError'
}

export type Message = Record<string, unknown>

/**
 * Splits the standard output of an agent into JSON-RPC messages, one per line (ACP, stdio transport). `add` passes them to `on_message` one after
 * another and resolves when that has taken them. Rejects with AgentProtocolError for too long messages, too many bytes and too much that is no message.
 */
export function createMessageSplitter(on_message: (message: Message) => Promise<void> | void): { add(chunk: Uint8Array): Promise<void> } {
  const decoder = new TextDecoder()
  let line: string[] = []
  let length = 0
  let total = 0
  let others = 0
  const take = async (text: string) => {
    if (text.trim() === '') return
    const message = parseMessage(text)
    if (message !== null) return on_message(message)
    others++
    if (others > MAX_OTHER_LINES)
      throw new AgentProtocolError(`It prints text that is no message of the protocol, for example: ${JSON.stringify(text.slice(0, 200))}`)
  }
  return {
    async add(chunk) {
      total += chunk.length
      if (total > MAX_TOTAL_BYTES) throw new AgentProtocolError(`It printed more than ${MAX_TOTAL_BYTES} bytes.`)
      const [first = '', ...rest] = decoder.decode(chunk, { stream: true }).split('\n')
      line.push(first)
      length += first.length
      for (const next of rest) {
        const text = line.join('')
        ;[line, length] = [[next], next.length]
        await take(text)
      }
      if (length > MAX_MESSAGE_BYTES) throw new AgentProtocolError(`A message has more than ${MAX_MESSAGE_BYTES} bytes.`)
    },
  }
}

function parseMessage(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) && 'jsonrpc' in value ? (value as Message) : null
  } catch {
    return null
  }
}
