import { inertMarks } from '../core/text/instruction-block.ts'
import { isFailedResult, toolResultText } from '../core/text/tool-result-text.ts'
import { isPrompt, type ModelMessage } from './port.ts'

/**
 * Returns the conversation with tool results as plain text instead of JSON, which costs fewer tokens and can be copied from. Pure: the same
 * journal gives the same bytes, as prompt caches need. `marks_failures`: the provider has a field for failed results and does not wrap their
 * text in JSON. Summaries, logs of checks and notices cannot contain the marks of instructions either.
 */
export function withToolResultTexts(messages: ModelMessage[], marks_failures: boolean): ModelMessage[] {
  return messages.map(message => {
    if (message.role === 'user') return isPrompt(message) ? message : inertMessage(message)
    if (message.role !== 'tool') return message
    const content = message.content.map(part => {
      if (part.type !== 'tool-result' || part.output.type !== 'json') return part
      const output = Object(part.output.value) as Record<string, unknown>
      const type = marks_failures && isFailedResult(output) ? ('error-text' as const) : ('text' as const)
      return { ...part, output: { type, value: toolResultText(part.toolName, output) } }
    })
    return { ...message, content }
  })
}

type UserMessage = Extract<ModelMessage, { role: 'user' }>

const inertMessage = (message: UserMessage): UserMessage => ({
  ...message,
  content:
    typeof message.content === 'string'
      ? inertMarks(message.content)
      : message.content.map(part => (part.type === 'text' ? { ...part, text: inertMarks(part.text) } : part)),
})
