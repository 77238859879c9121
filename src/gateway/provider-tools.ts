import type { ModelApi } from '../contract/model-settings.ts'
import { GatewayRefusal } from './gateway-refusal.ts'

type Json = Record<string, unknown>

const isForProgram = ({ type }: Json) => type === 'function' || type === 'custom'
const ofResponses = (tool: Json) => isForProgram(tool) || tool.type === 'local_shell'
const ofAnthropic = ({ type }: Json) =>
  type === undefined || type === 'custom' || /^(bash|text_editor|memory|computer)_\d+$/.test(String(type))

/**
 * Returns the part of a tool that runs at the program, and drops what runs at the provider; null: all of it.
 * Those would reach hosts that the network rules forbid.
 */
const partOfProgram: Record<ModelApi, (tool: Json, drop: Drop) => Json | null> = {
  'openai-chat': (tool, drop) => (isForProgram(tool) ? tool : drop(tool)),
  'openai-responses': (tool, drop) => {
    if (tool.type !== 'namespace') return ofResponses(tool) ? tool : drop(tool)
    const tools = keep(tool.tools, inner => (ofResponses(inner) ? inner : drop(inner)))
    return tools.length > 0 ? { ...tool, tools } : null
  },
  'anthropic-messages': (tool, drop) => (ofAnthropic(tool) ? tool : drop(tool)),
  'google-generate-content': (tool, drop) => {
    const names = Object.keys(tool).filter(
      name => name !== 'functionDeclarations' && name !== 'function_declarations',
    )
    for (const name of names) drop({ type: name })
    const rest = Object.entries(tool).filter(([name]) => !names.includes(name))
    return rest.length > 0 ? Object.fromEntries(rest) : null
  },
}

type Drop = (tool: Json) => null

/** Returns what is left of a list of tools. */
function keep(tools: unknown, partOf: (tool: Json) => Json | null): Json[] {
  if (!Array.isArray(tools) || !tools.every(isObject))
    throw new GatewayRefusal(400, 'The tools are not a list of objects.')
  return tools.map(partOf).filter(part => part !== null)
}

/** What concerns tools only: providers refuse it without any. */
const FIELDS_OF_TOOLS = ['tools', 'tool_choice', 'parallel_tool_calls', 'toolConfig', 'tool_config']

/**
 * Returns a request without the tools that run at the provider, and the types of those: what a program merely
 * lists need not be called. Throws GatewayRefusal 400 when the model would have to call one of them.
 */
export function withoutProviderTools(api: ModelApi, body: Json): { body: Json; dropped: string[] } {
  const dropped: Json[] = []
  let count = 0
  const left = (tools: unknown) => {
    const drop: Drop = tool => {
      dropped.push(tool)
      return null
    }
    const kept = keep(tools, tool => partOfProgram[api](tool, drop))
    count += kept.length
    return kept
  }
  const safe = { ...body }
  if (isGiven(body.tools)) safe.tools = left(body.tools)
  // Codex adds tools as parts of the conversation.
  if (api === 'openai-responses' && Array.isArray(body.input)) {
    safe.input = body.input.flatMap(item => {
      if (!isObject(item) || !isGiven(item.tools)) return [item]
      const tools = left(item.tools)
      return tools.length > 0 ? [{ ...item, tools }] : []
    })
  }
  if (isForced(body.tool_choice, dropped, count))
    throw new GatewayRefusal(
      400,
      'tool_choice forces a tool that runs at the provider. Those are not available here.',
    )
  if (dropped.length > 0 && count === 0) for (const name of FIELDS_OF_TOOLS) delete safe[name]
  return { body: safe, dropped: [...new Set(dropped.map(({ type }) => String(type)))] }
}

const CHOICES_OF_PROGRAM = ['function', 'custom', 'local_shell', 'auto', 'any', 'none', 'tool']

/** Whether the model would have to call a tool of the provider. `count`: of the tools that are left. */
function isForced(choice: unknown, dropped: readonly Json[], count: number): boolean {
  const none_left = dropped.length > 0 && count === 0
  if (!isObject(choice)) return choice === 'required' && none_left
  if (choice.type === 'allowed_tools') return namesProviderTool(choice)
  if (!CHOICES_OF_PROGRAM.includes(String(choice.type))) return true
  if (choice.type === 'any') return none_left
  return choice.type === 'tool' && dropped.some(({ name }) => name === choice.name)
}

/**
 * The list of chat completions is one level deeper. A model that may call none of the program's tools would
 * have to call another one.
 */
function namesProviderTool(choice: Json): boolean {
  const { tools } = isObject(choice.allowed_tools) ? choice.allowed_tools : choice
  return (
    !Array.isArray(tools) ||
    !tools.every(tool => isObject(tool) && CHOICES_OF_PROGRAM.includes(String(tool.type)))
  )
}

const isGiven = (value: unknown) => value !== undefined && value !== null
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
