import { type Endpoint, pathsOf } from '../src/contract/endpoint.ts'
import { endpoints } from '../src/contract/endpoints.ts'
import { Problem } from '../src/contract/error-codes.ts'
import { hoist, type Json, jsonSchema } from '../src/contract/openapi/schemas.ts'

const note = '// Written by scripts/build-client.ts from the contract table.'

/** What src/client/sdk/operations.ts exports, for a client that has neither zod nor the contract. */
const generic = `export type OperationName = keyof Operations
export type Params<N extends OperationName> = Operations[N]['params']
export type Query<N extends OperationName> = Operations[N]['query']
export type Body<N extends OperationName> = Operations[N]['body']
/** The JSON of a success; \`unknown\` for the document, never for a stream or a file. */
export type Result<N extends OperationName> = Operations[N]['result']
export type LogEntry = AgentRunLogEntry
export type DryRun = AgentRunDryRun
`

/** The types of all operations as TypeScript declarations: the schemas that have a name, and `Operations`. */
export function operationTypes(): string {
  const named: Json = {}
  hoist(jsonSchema(Problem, 'output'), named)
  const operations = Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => {
    const { params, query, body, response } = endpoint
    const shape = (schema: Parameters<typeof jsonSchema>[0]) =>
      typeOf(hoist(jsonSchema(schema, 'output'), named))
    const result =
      response === 'document' ? 'unknown' : typeof response === 'string' ? 'never' : shape(response)
    const fields = [
      `params: ${given(params.shape, named, key => key !== 'org_id')}`,
      `query: ${given(query.shape, named, key => !query.shape[key]?.safeParse(undefined).success)}`,
      `body: ${body === null ? 'undefined' : typeOf(hoist(jsonSchema(body, 'input'), named))}${body?.safeParse(undefined).success ? ' | undefined' : ''}`,
      `result: ${result}`,
    ]
    return `${comment(`${endpoint.summary}: \`${endpoint.method} ${pathsOf(endpoint)[0]}\``)}  ${name}: { ${fields.join('; ')} }\n`
  })
  const declarations = Object.entries(named).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema as Json)}\n`,
  )
  return [note, ...declarations, `export type Operations = {\n${operations.join('')}}\n`, generic].join('\n')
}

function given(shape: Endpoint['query']['shape'], named: Json, required: (key: string) => boolean): string {
  const fields = Object.entries(shape).map(([key, field]) => {
    const { description, ...schema } = hoist(
      jsonSchema(field as Parameters<typeof jsonSchema>[0], 'input'),
      named,
    )
    return property(key, { ...schema, description }, required(key), oneOrSeveral(schema))
  })
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}}`
}

/** A parameter that takes several values also takes one alone. */
function oneOrSeveral(schema: Json): string {
  if (schema.type !== 'array') return typeOf(schema)
  const item = typeOf((schema.items ?? {}) as Json)
  return `(${item} | ReadonlyArray<${item}>)`
}

const property = (key: string, schema: Json, required: boolean, type = typeOf(schema)) =>
  `${comment(schema.description)}${/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)}${required ? '' : '?'}: ${type}${required ? '' : ' | undefined'}\n`

const comment = (text: unknown) =>
  typeof text === 'string' ? `/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n` : ''

const primitives: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

/** A JSON Schema as a TypeScript type. Throws where it has no word for what it meets. */
function typeOf(schema: Json): string {
  const { $ref, const: constant, enum: values, anyOf, oneOf, type } = schema
  if (typeof $ref === 'string') return $ref.replace('#/components/schemas/', '')
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(values)) return values.map(value => JSON.stringify(value)).join(' | ')
  const choices =
    anyOf ?? oneOf ?? (Array.isArray(type) ? type.map(one => ({ ...schema, type: one })) : undefined)
  if (Array.isArray(choices)) return `(${choices.map(choice => typeOf(choice as Json)).join(' | ')})`
  if (type === 'array') return `Array<${typeOf((schema.items ?? {}) as Json)}>`
  if (type === 'object') return objectType(schema)
  if (typeof type === 'string' && primitives[type] !== undefined) return primitives[type]
  if (type === undefined && Object.keys(schema).every(key => key === 'description')) return 'unknown'
  throw new Error(`no TypeScript type for ${JSON.stringify(schema).slice(0, 300)}`)
}

function objectType({ properties, required = [], additionalProperties }: Json): string {
  if (properties === undefined)
    return `Record<string, ${additionalProperties ? typeOf(additionalProperties as Json) : 'unknown'}>`
  const fields = Object.entries(properties as Record<string, Json>).map(([key, schema]) =>
    property(key, schema, (required as string[]).includes(key)),
  )
  return `{\n${fields.join('')}}`
}
