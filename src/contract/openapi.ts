import { z } from 'zod'
import type { Endpoint } from './endpoint.ts'
import { endpoints } from './endpoints.ts'
import { Problem } from './problem.ts'
import { type ToolName, toolInputs, toolSchema } from './tools.ts'

type Json = Record<string, unknown>

/** Schemas say on the wire what `meta({ wire })` says: an id in a path is an integer there, though it is parsed from text. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ zodSchema, jsonSchema: json }) => {
      const wire = (zodSchema as unknown as z.ZodType).meta()?.wire as Json | undefined
      if (wire) {
        const kept = json.description === undefined ? wire : { ...wire, description: json.description }
        for (const key of Object.keys(json)) delete (json as Json)[key]
        Object.assign(json, kept)
      }
      // Left out where text is parsed, because a default is of the parsed kind; ours are the same on the wire.
      if (zodSchema instanceof z.ZodDefault) json.default = zodSchema.def.defaultValue as typeof json.default
      // Every integer of JSON is within the safe range, and a date-time needs no pattern beside its format.
      if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum
      if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum
      if (json.format === 'date-time') delete json.pattern
    },
  }) as Json
  return rest
}

/** Moves the definitions that a schema carries to the document's components, and the references with them. */
function hoist(schema: Json, components: Json): Json {
  const { $defs, id, ...body } = schema as Json & { $defs?: Record<string, Json>; id?: string }
  for (const [name, definition] of Object.entries($defs ?? {})) components[name] ??= rewrite(definition)
  const rewritten = rewrite(body)
  if (typeof id !== 'string') return rewritten
  components[id] ??= rewritten
  return { $ref: `#/components/schemas/${id}` }
}

/** Turns local references into the document's, and drops the names by which zod knows a schema (a property called `id` is an object, not a name). */
function rewrite(value: Json): Json {
  const text = JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/')
  return JSON.parse(text, (_key, item) => {
    if (typeof item !== 'object' || item === null || typeof item.id !== 'string') return item
    const { id: _name, ...rest } = item
    return rest
  }) as Json
}

const parameters = (where: 'path' | 'query', schema: z.ZodObject, components: Json) =>
  Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...rest } = hoist(jsonSchema(field as z.ZodType, 'input'), components)
    return { name, in: where, required: where === 'path', schema: rest, ...(description !== undefined && { description }) }
  })

function operation(name: string, endpoint: Endpoint, components: Json): Json {
  const content =
    endpoint.response === 'stream'
      ? { 'text/event-stream': { schema: { type: 'string' } } }
      : endpoint.response === 'document'
        ? { 'application/json': { schema: { type: 'object' } } }
        : { 'application/json': { schema: hoist(jsonSchema(endpoint.response, 'output'), components) } }
  return {
    operationId: name,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.stability === 'alpha' && { 'x-stability': 'alpha' }),
    ...(endpoint.scope !== null && { 'x-scope': endpoint.scope }),
    security: endpoint.access === 'token' ? [{ bearer: [] }] : endpoint.access === 'cookie' ? [{ session: [] }] : [],
    parameters: [...parameters('path', endpoint.params, components), ...parameters('query', endpoint.query, components)],
    ...(endpoint.body !== null && {
      requestBody: { required: true, content: { 'application/json': { schema: hoist(jsonSchema(endpoint.body, 'input'), components) } } },
    }),
    responses: {
      200: { description: 'Success', content },
      default: {
        description: 'An error, see `code`',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

/** The OpenAPI 3.1 document of the contract table. */
export function openApiDocument(base_url: string): Json {
  const components: Json = {}
  hoist(jsonSchema(Problem, 'output'), components)
  for (const name of Object.keys(toolInputs) as ToolName[]) {
    const { description, input_schema } = toolSchema(name)
    components[`Tool_${name}`] = { description, ...input_schema }
  }
  const paths: Record<string, Json> = {}
  for (const [name, endpoint] of Object.entries(endpoints) as [string, Endpoint][]) {
    const described = operation(name, endpoint, components)
    const method = endpoint.method.toLowerCase()
    paths[endpoint.path] = { ...paths[endpoint.path], [method]: described }
    for (const [n, alias] of (endpoint.aliases ?? []).entries())
      paths[alias] = { ...paths[alias], [method]: { ...described, operationId: `${name}_alias_${n + 1}`, 'x-alias-of': endpoint.path } }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Agent Run Service', version: '1', license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: base_url }],
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'agentrun_session', description: 'Good for /session alone' },
      },
    },
  }
}
