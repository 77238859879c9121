import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import type { Endpoint } from '../../contract/endpoint.ts'
import { limits } from '../../contract/limits.ts'
import { hoist, type Json, jsonSchema } from '../../contract/openapi/schemas.ts'
import { type Tool, tools } from './tool-table.ts'

const idempotency_key = {
  type: 'string',
  minLength: 1,
  maxLength: limits.idempotency_key_chars,
  description:
    'A name for this call, of your choice. A repetition within 24 hours with the same arguments returns the first result.',
}
const org_id = 'Default: the organization of the token, or the only one of its user'

/**
 * Returns the fields of the arguments, each with the part of the request that it belongs to. One name in two
 * parts would be ambiguous.
 */
export function fieldsOf({
  endpoint,
  omit,
}: Pick<Tool, 'endpoint' | 'omit'>): Map<string, 'params' | 'query' | 'body'> {
  const fields = new Map<string, 'params' | 'query' | 'body'>()
  for (const [part, schema] of partsOf(endpoint))
    for (const name of Object.keys(schema.shape)) if (!omit.includes(name)) fields.set(name, part)
  return fields
}

const partsOf = ({ params, query, body }: Endpoint) =>
  [
    ['params', params] as const,
    ['query', query] as const,
    ...(body === null ? [] : [['body', body as z.ZodObject] as const]),
  ] as const

/**
 * Returns a schema without references, which several clients cannot follow, and without examples. Output is
 * described by its names alone: hardly any client shows more of it, and each would receive 80 kB of texts.
 */
function plainSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const components: Json = {}
  const root = hoist(jsonSchema(schema, io), components)
  // A property may be called `description`, but its schema is never a text.
  const isDropped = (key: string, item: unknown) =>
    (key === 'examples' && Array.isArray(item)) ||
    (io === 'output' && key === 'description' && typeof item === 'string')
  const inline = (value: unknown, within: string[]): unknown => {
    if (Array.isArray(value)) return value.map(item => inline(item, within))
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...rest } = value as Json
    const name = typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : null
    const kept = Object.entries(rest).filter(([key, item]) => !isDropped(key, item))
    const own = Object.fromEntries(kept.map(([key, item]) => [key, inline(item, within)]))
    // A value of any JSON contains itself: its parts are not described again.
    if (name === null || within.includes(name)) return own
    return { ...(inline(components[name], [...within, name]) as Json), ...own }
  }
  return inline(root, []) as Json
}

function inputSchema(tool: Tool): ListedTool['inputSchema'] {
  const { endpoint, omit, defaults } = tool
  const properties: Json = {}
  const required: string[] = []
  for (const [, schema] of partsOf(endpoint)) {
    const part = plainSchema(schema, 'input')
    Object.assign(properties, part.properties)
    required.push(...((part.required as string[] | undefined) ?? []))
  }
  for (const name of omit) delete properties[name]
  if ('org_id' in properties) properties.org_id = { ...(properties.org_id as Json), description: org_id }
  for (const [name, value] of Object.entries(defaults))
    properties[name] = { ...(properties[name] as Json), default: value }
  if (endpoint.idempotent) properties.idempotency_key = idempotency_key
  return {
    type: 'object',
    properties: properties as ListedTool['inputSchema']['properties'],
    required: required.filter(name => name !== 'org_id'),
    additionalProperties: false,
  }
}

function outputSchema({ response }: Tool['endpoint']): NonNullable<ListedTool['outputSchema']> {
  return { ...plainSchema(response, 'output'), type: 'object' }
}

const repeatable = ['stop_agent_run', 'pause_agent_run']

/**
 * The list of tools, as every client gets it; derived from the table of operations once, because it does not
 * change.
 */
export const listedTools: ListedTool[] = tools.map(tool => {
  const { summary, description, scope, method, idempotent = false } = tool.endpoint
  const read = method === 'GET' || tool.name === 'dry_run_agent_run'
  return {
    name: tool.name,
    title: summary,
    description: [`${summary}.`, description, scope === null ? undefined : `Needs the scope \`${scope}\`.`]
      .filter(text => text !== undefined)
      .join(' '),
    inputSchema: inputSchema(tool),
    outputSchema: outputSchema(tool.endpoint),
    annotations: {
      readOnlyHint: read,
      ...(!read && {
        destructiveHint: tool.name === 'stop_agent_run',
        idempotentHint: repeatable.includes(tool.name) && !idempotent,
      }),
      openWorldHint: !read,
    },
  }
})
