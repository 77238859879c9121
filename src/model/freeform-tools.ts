import type { openai } from '@ai-sdk/openai'
import type { jsonSchema, ToolSet, tool } from 'ai'
import type { ModelMessage, ToolSpec } from './port.ts'

/**
 * Functions of the SDK. `customTool`: the provider takes tools whose input is a text instead of JSON
 * (`custom` tools of OpenAI's Responses API); elsewhere, null, such a tool has its field in JSON as any
 * other.
 */
export type ToolFunctions = {
  jsonSchema: typeof jsonSchema
  tool: typeof tool
  customTool: typeof openai.tools.customTool | null
}

/** Returns the tools of a request for the SDK. */
export function sdkTools(specs: ToolSpec[], { jsonSchema, tool, customTool }: ToolFunctions): ToolSet {
  return Object.fromEntries(
    specs.map(({ name, description, input_schema, text_input }) => {
      if (customTool === null || text_input === undefined)
        return [name, tool({ description, inputSchema: jsonSchema(input_schema) })]
      const format = { type: 'grammar' as const, syntax: 'lark' as const, definition: text_input.grammar }
      return [name, customTool({ description: `${description} ${FREEFORM}`, format })]
    }),
  )
}

const FREEFORM = 'This is a free-form tool: send its text itself, not JSON.'

/**
 * Returns the conversation with the calls of free-form tools as the provider made them: their field as a
 * text.
 */
export function withFreeformCalls(messages: ModelMessage[], specs: ToolSpec[]): ModelMessage[] {
  const fields = textFields(specs)
  if (fields.size === 0) return messages
  return messages.map(message => {
    if (message.role !== 'assistant' || typeof message.content === 'string') return message
    const content = message.content.map(part => {
      const field = part.type === 'tool-call' ? fields.get(part.toolName) : undefined
      if (part.type !== 'tool-call' || field === undefined) return part
      const text = Object(part.input)[field]
      return { ...part, input: typeof text === 'string' ? text : JSON.stringify(part.input) }
    })
    return { ...message, content }
  })
}

/** Returns the field of each free-form tool in which the journal keeps its text. */
export const textFields = (specs: ToolSpec[]): Map<string, string> =>
  new Map(
    specs.flatMap(({ name, text_input }) => (text_input === undefined ? [] : [[name, text_input.field]])),
  )
