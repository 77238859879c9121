import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'

// biome-ignore lint/suspicious/noExplicitAny: a description is read without types
type Json = any
type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: Json }
type Response = { content?: Record<string, { schema: Json; examples?: Record<string, Json> }> }
type Operation = {
  operationId: string
  parameters?: Json[]
  requestBody?: { content: Record<string, { schema: Json }> }
  responses: Record<string, Json>
}
export type DescribedOperation = { name: string; operation: Operation; params: Record<string, string> }

const description = JSON.parse(readFileSync(new URL('github-description.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, Json>>
}

/** OpenAPI 3.0 as JSON Schema: what is `nullable` may be null, and nothing else differs. */
function asSchema(node: Json): Json {
  if (Array.isArray(node)) return node.map(asSchema)
  if (typeof node !== 'object' || node === null) return node
  const { nullable, example: _example, examples: _examples, ...rest } = node
  const plain = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, key === 'enum' ? value : asSchema(value)]),
  )
  return nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain
}

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
formats.default(ajv)
ajv.addFormat('repo.nwo', true)
ajv.addSchema({ $id: 'https://github.invalid/', components: asSchema(description.components) })

const compiled = new Map<string, ValidateFunction>()
function mistakesOf(key: string, schema: Json, value: unknown): string[] {
  let validate = compiled.get(key)
  if (!validate) {
    const text = JSON.stringify(asSchema(schema)).replaceAll(
      '"#/components/',
      '"https://github.invalid/#/components/',
    )
    validate = ajv.compile(JSON.parse(text))
    compiled.set(key, validate)
  }
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${key}: ${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  )
}

const resolved = (node: Json): Json => {
  if (typeof node?.$ref !== 'string') return node
  const [, , kind = '', name = ''] = node.$ref.split('/')
  return description.components[kind]?.[name]
}

/**
 * The operation that a request is for; the part in braces takes one segment of the path, or for a commit all
 * that is left before the next word.
 */
export function findOperation(method: string, path: string): DescribedOperation | null {
  for (const [template, operations] of Object.entries(description.paths)) {
    const operation = operations[method.toLowerCase()]
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '')
    const found = new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(path)
    if (!operation || !found) continue
    const params = Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(found[i + 1] ?? '')]))
    return { name: `${method} ${template}`, operation, params }
  }
  return null
}

/** What is wrong with a request by the description; what it does not name is wrong too. */
export function requestMistakes(
  { name, operation, params }: DescribedOperation,
  query: URLSearchParams,
  body: unknown,
): string[] {
  const parameters = (operation.parameters ?? []).map(resolved) as Parameter[]
  const given = (parameter: Parameter) =>
    parameter.in === 'path' ? params[parameter.name] : query.get(parameter.name)
  const mistakes = parameters
    .filter(parameter => parameter.in !== 'header')
    .flatMap(parameter => {
      const value = given(parameter)
      if (value === null || value === undefined)
        return parameter.required ? [`${name}: ${parameter.name} is missing`] : []
      const typed =
        parameter.schema.type === 'integer'
          ? Number(value)
          : parameter.schema.type === 'boolean'
            ? value === 'true'
            : value
      return mistakesOf(`${name} ${parameter.name}`, parameter.schema, typed)
    })
  const unknown = [...query.keys()].filter(
    key => !parameters.some(parameter => parameter.in === 'query' && parameter.name === key),
  )
  const schema = operation.requestBody?.content['application/json']?.schema
  if (body === undefined) return [...mistakes, ...unknown.map(key => `${name}: no query parameter ${key}`)]
  if (!schema) return [...mistakes, `${name}: takes no body`]
  return [
    ...mistakes,
    ...unknown.map(key => `${name}: no query parameter ${key}`),
    ...mistakesOf(`${name} body`, { ...schema, additionalProperties: false }, body),
  ]
}

/**
 * What is wrong with a response. Errors that every operation may have, and few describe, are as the
 * description has errors in general.
 */
export function responseMistakes(
  { name, operation }: DescribedOperation,
  status: number,
  body: unknown,
): string[] {
  const response = resolved(operation.responses[String(status)]) as Response | undefined
  if (!response)
    return status < 300
      ? [`${name}: does not respond with ${status}`]
      : mistakesOf('an error', { $ref: '#/components/schemas/basic-error' }, body)
  const schema = response.content?.['application/json']?.schema
  return schema ? mistakesOf(`${name} ${status}`, schema, body) : []
}

/** The response that the description itself gives as an example, for us to change. */
export function exampleOf(method: string, template: string, status: number): Json {
  const operation = description.paths[template]?.[method.toLowerCase()]
  const response = resolved(operation?.responses[String(status)]) as Response | undefined
  const [example] = Object.values(response?.content?.['application/json']?.examples ?? {})
  if (!example) throw new Error(`no example of ${method} ${template} ${status}`)
  return structuredClone(resolved(example).value)
}
