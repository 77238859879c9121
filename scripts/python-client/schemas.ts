import type { Json } from '../../src/contract/openapi/schemas.ts'

/**
 * A schema with a name of its own. `tag`: the topic whose module has it; topics refer only to earlier ones.
 */
export type NamedSchema = { name: string; tag: string; schema: Json; output: boolean }

export type Operation = Json & {
  operationId: string
  tags: string[]
  summary: string
  security: Json[]
  parameters: { name: string; in: string; required: boolean; description?: string; schema: Json }[]
  requestBody?: { content: { 'application/json': { schema: Json } } }
  responses: { 200: { content: Record<string, { schema: Json }> } }
}
export type Row = { method: string; path: string; tag: string; operation: Operation }

export type ApiDocument = {
  info: { version: string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: { requestBody: { content: { 'application/json': { schema: Json } } } } }>
  components: { schemas: Record<string, Json> }
}

/**
 * The operations that a program calls with a token or none: no aliases, no streams, nothing of a browser's
 * session.
 */
export function rowsOf(document: ApiDocument): Row[] {
  const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      tag: operation.tags[0] ?? '',
      operation,
    })),
  )
  return rows.filter(
    ({ path, operation }) =>
      !('x-alias-of' in operation) &&
      (path.startsWith('/v1/') || ['getHealth', 'getReadiness'].includes(operation.operationId)) &&
      operation.responses[200].content['text/event-stream'] === undefined,
  )
}

/**
 * Every schema that an operation or a webhook needs, each after those that it refers to, by the first topic
 * that needs it.
 */
export function namedSchemas(document: ApiDocument): NamedSchema[] {
  const found = new Map<string, NamedSchema>()
  const visit = (schema: unknown, tag: string, output: boolean): void => {
    for (const name of references(schema)) {
      const key = `${name} ${output}`
      if (found.has(key)) continue
      const own = document.components.schemas[name] ?? {}
      visit(own, tag, output)
      found.set(key, { name, tag, schema: own, output })
    }
  }
  const all = rowsOf(document)
  // Topics in the order of the document, so that a later one may import an earlier one.
  for (const { name: tag } of document.tags)
    for (const { operation } of all.filter(row => row.tag === tag)) {
      visit(operation.responses[200].content, tag, true)
      visit(operation.requestBody, tag, false)
      visit(operation.parameters, tag, false)
    }
  for (const { post } of Object.values(document.webhooks)) visit(post.requestBody.content, 'webhooks', true)
  visit({ $ref: '#/components/schemas/Problem' }, document.tags[0]?.name ?? '', true)
  return [...found.values()]
}

function references(schema: unknown): string[] {
  const names: string[] = []
  JSON.stringify(schema, (key, value) => {
    if (key === 'examples' || key === 'example') return undefined
    if (key === '$ref' && String(value).startsWith('#/components/schemas/'))
      names.push(String(value).replace('#/components/schemas/', ''))
    return value
  })
  return names
}
