import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'

// biome-ignore lint/suspicious/noExplicitAny: a description is read without types
type Json = any
type Operation = { status: number; query: Json; body?: Json; answer: Json }
export type FoundOperation = { name: string; operation: Operation; params: Record<string, string> }

const description = JSON.parse(readFileSync(new URL('gitea-description.json', import.meta.url), 'utf8')) as {
  operations: Record<string, Operation>
  error: Json
  definitions: Record<string, Json>
}

/**
 * Requests are validated as described; in responses every pointer or slice of Go may be null, which no
 * description documents.
 */
function withNulls(node: Json): Json {
  if (Array.isArray(node)) return node.map(withNulls)
  if (typeof node !== 'object' || node === null) return node
  const inner = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, key === 'enum' ? value : withNulls(value)]),
  )
  return node.$ref || node.type === 'array' || node.format === 'date-time'
    ? { anyOf: [inner, { type: 'null' }] }
    : inner
}

const sides = { request: (node: Json) => node, answer: withNulls }
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true })
formats.default(ajv)
const compiled = new Map<string, ValidateFunction>()

function mistakesOf(side: keyof typeof sides, key: string, schema: Json, value: unknown): string[] {
  const known = compiled.get(`${side} ${key}`)
  const validate =
    known ?? ajv.compile({ ...sides[side](schema), definitions: sides[side](description.definitions) })
  compiled.set(`${side} ${key}`, validate)
  if (validate(value)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${key}: ${instancePath || '/'} ${message} ${JSON.stringify(params)}`,
  )
}

/** The operation that a request is for; a part in braces takes one segment of the path. */
export function findGiteaOperation(method: string, path: string): FoundOperation | null {
  for (const [name, operation] of Object.entries(description.operations)) {
    const [of = '', template = ''] = name.split(' ')
    const names = [...template.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '')
    const found = of === method ? new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(path) : null
    if (found)
      return {
        name,
        operation,
        params: Object.fromEntries(names.map((key, i) => [key, decodeURIComponent(found[i + 1] ?? '')])),
      }
  }
  return null
}

/** What is wrong with a request; what is not described is wrong too. */
export function giteaRequestMistakes(
  { name, operation }: FoundOperation,
  query: URLSearchParams,
  body: unknown,
): string[] {
  const typed = Object.fromEntries(
    [...query].map(([key, value]) => [
      key,
      operation.query.properties[key]?.type === 'string' ? value : Number(value),
    ]),
  )
  const twice =
    [...query.keys()].length === Object.keys(typed).length ? [] : [`${name}: a query parameter twice`]
  const bodyless = operation.body === undefined ? [`${name}: takes no body`] : []
  return [
    ...mistakesOf('request', `${name} query`, operation.query, typed),
    ...twice,
    ...(body === undefined
      ? []
      : operation.body
        ? mistakesOf('request', `${name} body`, operation.body, body)
        : bodyless),
    ...(body === undefined && operation.body !== undefined ? [`${name}: a body is missing`] : []),
  ]
}

/** What is wrong with a response. */
export function giteaResponseMistakes(
  { name, operation }: FoundOperation,
  status: number,
  body: unknown,
): string[] {
  if (status >= 300) return mistakesOf('answer', 'an error', description.error, body)
  if (status !== operation.status) return [`${name}: does not respond with ${status}`]
  if (Object.keys(operation.answer).length === 0)
    return body === undefined ? [] : [`${name}: answers nothing`]
  return mistakesOf('answer', name, operation.answer, body)
}

/** A thing of that name with every property that is described: empty, but for what is given. */
export function whole(name: string, given: Record<string, unknown> = {}): Json {
  const { properties } = description.definitions[name]
  const unknown = Object.keys(given).filter(key => !(key in properties))
  if (unknown.length > 0) throw new Error(`${name} has no ${unknown.join(', ')}`)
  const empty = (schema: Json): unknown => {
    const { type, format, enum: words } = schema.$ref ? { type: null, format: null, enum: null } : schema
    if (type === null || type === 'array' || format === 'date-time') return null
    if (type === 'string') return words?.[0] ?? ''
    return type === 'boolean' ? false : type === 'object' ? {} : 0
  }
  return {
    ...Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, empty(schema)])),
    ...given,
  }
}
