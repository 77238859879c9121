import { inertMarks } from '../core/text/instruction-block.ts'
import { isSmallSchema, MAX_SCHEMA_DEPTH, mapTexts } from './schema-texts.ts'
import { offeredNames } from './tool-names.ts'

/** A tool as its server describes it. */
export type ServerTool = {
  name: string
  description?: string | undefined
  inputSchema: Record<string, unknown>
}
/** A tool as a model is offered it. `tool`: its name at the server. */
export type OfferedTool = {
  name: string
  tool: string
  description: string
  input_schema: Record<string, unknown>
}
/** `left_out`: what the person must know of tools that are not offered. */
export type OfferedTools = { tools: OfferedTool[]; left_out: string[] }

const MAX_TOOLS = 64
const MAX_DESCRIPTION = 1_024
const MAX_SCHEMA_CHARS = 16_000
/** All descriptions and schemas of a server, which go with every request of the run. */
const MAX_TOTAL_CHARS = 100_000
const MAX_NAMED = 10
/** Providers refuse these at the top of a schema; the server itself checks its arguments. */
const REFUSED_KEYWORDS = ['$schema', 'oneOf', 'anyOf', 'allOf', 'not', 'enum', 'if', 'then', 'else']

/**
 * Returns the tools of a server that a run offers, within bounds of their number and size. `wanted`: the only
 * ones that are; null: all. Descriptions, also those in schemas, are text of another party: they are cut, and
 * cannot contain marks of the service.
 */
export function offeredTools(
  server: string,
  listed: readonly ServerTool[],
  wanted: readonly string[] | null,
): OfferedTools {
  const unique = [...new Map(listed.map(tool => [tool.name, tool])).values()]
  const allowed = wanted === null ? unique : unique.filter(({ name }) => wanted.includes(name))
  const missing = (wanted ?? []).filter(name => !allowed.some(tool => tool.name === name))
  const objects = allowed.map(tool => ({ ...tool, inputSchema: objectSchema(tool.inputSchema) }))
  const small = objects.filter(({ inputSchema }) => isSmallSchema(inputSchema, MAX_SCHEMA_CHARS))
  const too_large = objects.filter(tool => !small.includes(tool))
  const fitting = small.map(describe)
  let total = 0
  const offered = fitting.filter(({ chars }, i) => {
    total += chars
    return i < MAX_TOOLS && total <= MAX_TOTAL_CHARS
  })
  const others = fitting.filter(tool => !offered.includes(tool))
  const names = offeredNames(
    server,
    offered.map(({ tool }) => tool.name),
  )
  const tools = offered.map(({ tool, description, input_schema }, i) => ({
    name: names[i] ?? '',
    tool: tool.name,
    description,
    input_schema,
  }))
  const left_out = [
    ...noteOf(
      too_large.map(({ name }) => name),
      `have an input schema of more than ${MAX_SCHEMA_CHARS} characters or ${MAX_SCHEMA_DEPTH} levels`,
    ),
    ...noteOf(
      others.map(({ tool }) => tool.name),
      `are more than a server may offer: ${MAX_TOOLS} tools of together ${MAX_TOTAL_CHARS} characters`,
    ),
    ...noteOf(missing, 'are in the list of tools, and the server has none of these names'),
  ]
  return { tools, left_out }
}

function describe(tool: ServerTool) {
  const description = inertText(tool.description ?? '')
  const input_schema = mapTexts(tool.inputSchema, inertText)
  return { tool, description, input_schema, chars: description.length + JSON.stringify(input_schema).length }
}

/** A part of a pattern would be another one, or none. */
const inertText = (text: string, keyword?: string): string =>
  inertMarks(keyword === 'pattern' ? text : shortened(text, MAX_DESCRIPTION))

function objectSchema(schema: Record<string, unknown>): Record<string, unknown> {
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !REFUSED_KEYWORDS.includes(key)))
  return {
    ...rest,
    type: 'object',
    properties: typeof rest.properties === 'object' && rest.properties !== null ? rest.properties : {},
  }
}

function noteOf(names: string[], why: string): string[] {
  if (names.length === 0) return []
  const shown = names.slice(0, MAX_NAMED).map(name => shortened(name, 100))
  const more = names.length > shown.length ? ` and ${names.length - shown.length} others` : ''
  return [`${shown.join(', ')}${more}: they ${why}.`]
}

const shortened = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`
