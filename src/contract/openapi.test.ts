import { expect, test } from 'vitest'
import { problemStatuses } from './documented-statuses.ts'
import { type Endpoint, pathsOf } from './endpoint.ts'
import { endpoints } from './endpoints.ts'
import { Problem, type ProblemCode, problems } from './error-codes.ts'
import { bodyExample, responseExample } from './openapi/examples.ts'
import { problemExample } from './openapi/responses.ts'
import { openApiDocument } from './openapi.ts'

type Schema = {
  $ref?: string
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: Schema
}
type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  deprecated?: boolean
  'x-stability': string
  'x-alias-of'?: string
  parameters: { name: string; in: string; description?: string; schema: Schema }[]
  responses: Record<string, { $ref?: string; headers?: Record<string, unknown> }>
}
type Document = {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const document = openApiDocument({ base_url: 'http://service.test', version: '1' }) as unknown as Document
const { schemas } = document.components
const rows = Object.entries(endpoints) as [string, Endpoint][]
const operationAt = (endpoint: Endpoint, path = endpoint.path) =>
  document.paths[path]?.[endpoint.method.toLowerCase()] as Operation

const isDescribed = ({ description, $ref, anyOf = [] }: Schema): boolean =>
  description !== undefined ||
  ($ref !== undefined && isDescribed(schemas[$ref.replace('#/components/schemas/', '')] ?? {})) ||
  anyOf.some(isDescribed)

/** Paths of the properties below a schema that have no description. */
function silent(
  where: string,
  { properties = {}, items, anyOf = [], additionalProperties }: Schema,
): string[] {
  const own = Object.entries(properties).flatMap(([name, property]) => [
    ...(isDescribed(property) ? [] : [`${where}.${name}`]),
    ...silent(`${where}.${name}`, property),
  ])
  const below = [...anyOf, items, additionalProperties].filter(schema => schema !== undefined)
  return [...own, ...below.flatMap(schema => silent(where, schema))]
}

test('every property of every schema has a description: add .describe(…), or refer to a description in its meta', () => {
  expect(Object.entries(schemas).flatMap(([name, schema]) => silent(name, schema))).toEqual([])
})

test('every parameter has a description: add .describe(…)', () => {
  const nameless = rows.flatMap(([name, endpoint]) =>
    operationAt(endpoint)
      .parameters.filter(
        ({ description, schema }) => !isDescribed({ ...schema, ...(description && { description }) }),
      )
      .map(parameter => `${name}: ${parameter.name}`),
  )
  expect(nameless).toEqual([])
})

test('every body and every response has an example: give its schema .meta({ examples: [...] }), or the row `examples`', () => {
  const missing = rows.flatMap(([name, endpoint]) => [
    ...(endpoint.body !== null && bodyExample(endpoint) === undefined ? [`${name}: body`] : []),
    ...(endpoint.response !== 'document' && responseExample(endpoint) === undefined
      ? [`${name}: answer`]
      : []),
  ])
  expect(missing).toEqual([])
})

const bodies = rows.flatMap(([name, endpoint]) =>
  endpoint.body === null
    ? []
    : [{ name: `body of ${name}`, schema: endpoint.body, example: bodyExample(endpoint) }],
)
const responses = rows.flatMap(([name, endpoint]) => {
  const { response } = endpoint
  return typeof response === 'string'
    ? []
    : [{ name: `answer of ${name}`, schema: response, example: responseExample(endpoint) }]
})

test('every example is what its schema takes, without a key that the schema does not know', () => {
  for (const { name, schema, example } of responses)
    expect({ name, example: schema.parse(example) }).toEqual({ name, example })
  for (const { name, schema, example } of bodies) {
    const known = Object.keys(schema.parse(example) as object)
    expect({ name, unknown: Object.keys(example as object).filter(key => !known.includes(key)) }).toEqual({
      name,
      unknown: [],
    })
  }
  for (const code of Object.keys(problems) as ProblemCode[])
    expect(Problem.strict().parse(problemExample(code)).code).toBe(code)
})

test('every operation describes what it needs and at which other paths it is served', () => {
  for (const [, endpoint] of rows) {
    for (const path of pathsOf(endpoint)) {
      const { summary, description } = operationAt(endpoint, path)
      expect(summary).toMatch(/^[A-Z].*[^.]$/)
      expect(description).toContain('Needs ')
      if (endpoint.scope !== null) expect(description).toContain(`\`${endpoint.scope}\``)
      expect(pathsOf(endpoint).filter(other => description.includes(`\`${other}\``))).toEqual(
        pathsOf(endpoint).filter(other => other !== path),
      )
    }
  }
})

test('an operation at another path is the same one but for the form of its 401, and names its original', () => {
  for (const [, endpoint] of rows) {
    const { operationId: _own, description: _description, responses, ...own } = operationAt(endpoint)
    expect(own['x-alias-of']).toBeUndefined()
    for (const alias of endpoint.aliases ?? []) {
      const {
        operationId: _id,
        description: _words,
        responses: others,
        ...same
      } = operationAt(endpoint, alias)
      expect(same).toEqual({ ...own, 'x-alias-of': endpoint.path })
      const plain = /^\/v1\/(alpha|beta)\//.test(alias)
        ? { 401: { $ref: '#/components/responses/Problem401Plain' } }
        : {}
      expect(others).toEqual({ ...responses, ...plain })
    }
  }
})

test('the refusals of an operation are those that problemStatuses gives, and a default', () => {
  for (const [, endpoint] of rows) {
    const { 200: success, default: others, ...refusals } = operationAt(endpoint).responses
    expect(success?.headers).toHaveProperty('X-Request-Id')
    expect(others).toEqual({ $ref: '#/components/responses/Problem' })
    expect(Object.keys(refusals).map(Number)).toEqual(problemStatuses(endpoint))
    for (const [status, { $ref }] of Object.entries(refusals))
      expect($ref).toBe(`#/components/responses/Problem${status}`)
  }
})

test('every operation declares its stability, an alpha one by its header too, and none is deprecated without being so', () => {
  for (const [, endpoint] of rows) {
    const operation = operationAt(endpoint)
    expect(operation['x-stability']).toBe(endpoint.stability)
    expect('X-API-Stability' in (operation.responses[200]?.headers ?? {})).toBe(
      endpoint.stability === 'alpha',
    )
    expect(operation).not.toHaveProperty('deprecated')
  }
})

test('chapters are those of the table, in its order, each with a description', () => {
  expect(document.tags.map(tag => tag.name)).toEqual([...new Set(rows.map(([, endpoint]) => endpoint.tag))])
  for (const { description } of document.tags) expect(description).toMatch(/\w.*\.$/)
})
