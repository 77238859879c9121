import type { ModelMessage } from './port.ts'

/** The part of a tool's result that the scripted model reads. */
export type SeenResult = { status: string; value: Record<string, unknown>; text: string }
export type SeenCall = { id: string; name: string; input: unknown; result: SeenResult | null }

/** Returns true for a message of the service about failing checks. */
export function isChecksFailed(message: ModelMessage): boolean {
  return message.role === 'user' && message.providerOptions?.agentrun?.checks_failed === true
}

export function textOf(message: ModelMessage): string {
  if (typeof message.content === 'string') return message.content
  return message.content.map(part => (part.type === 'text' ? part.text : '')).join('\n')
}

export function countResponses(messages: ModelMessage[]): number {
  return messages.filter(message => message.role === 'assistant').length
}

/**
 * Returns the tool calls of one message, each with its result from the later messages (null while there is
 * none).
 */
export function callsOf(message: ModelMessage | undefined, messages: ModelMessage[]): SeenCall[] {
  if (message?.role !== 'assistant' || typeof message.content === 'string') return []
  const calls: SeenCall[] = []
  for (const part of message.content) {
    if (part.type === 'tool-call') {
      calls.push({
        id: part.toolCallId,
        name: part.toolName,
        input: part.input,
        result: resultOf(part.toolCallId, messages),
      })
    }
  }
  return calls
}

function resultOf(id: string, messages: ModelMessage[]): SeenResult | null {
  for (const message of messages) {
    if (message.role !== 'tool') continue
    for (const part of message.content) {
      if (part.type !== 'tool-result' || part.toolCallId !== id) continue
      const { output } = part
      const failed =
        output.type === 'error-text' || output.type === 'error-json' || output.type === 'execution-denied'
      const raw = 'value' in output ? output.value : (output.reason ?? '')
      const value: Record<string, unknown> = isRecord(raw)
        ? raw
        : { output: typeof raw === 'string' ? raw : JSON.stringify(raw) }
      const status = typeof value.status === 'string' ? value.status : failed ? 'error' : 'ok'
      const text = [value.output, value.message, value.error, value.content].find(
        field => typeof field === 'string' && field !== '',
      )
      return { status, value, text: typeof text === 'string' ? text : JSON.stringify(value) }
    }
  }
  return null
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
