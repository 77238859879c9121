import { resolve, type Schema, schemaChanges } from './schema-changes.ts'

type Parameter = { name: string; in: string; required?: boolean; schema?: Schema }
type Content = Record<string, { schema?: Schema }>
type Operation = {
  operationId?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content?: Content }
  responses?: Record<string, { headers?: Record<string, unknown>; content?: Content }>
  security?: Record<string, unknown>[]
  'x-stability'?: string
  'x-scope'?: string
  'x-alias-of'?: string
}
/** As much of an OpenAPI document as is compared. */
export type Document = Schema & { paths: Record<string, Record<string, Operation>> }

/**
 * Every change from one document to a later one that breaks a client which was right before, one line each;
 * empty when there is none. New paths, optional inputs, answered properties and values of an enum break
 * nobody: clients ignore what they do not know.
 */
export function breakingChanges(before: Document, after: Document): string[] {
  const changes = Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, was]) => {
      const name = `${method.toUpperCase()} ${path}`
      const is = after.paths[path]?.[method]
      if (is === undefined)
        return [
          `${name} is gone${was['x-alias-of'] === undefined ? '' : `, the alias of ${was['x-alias-of']}`}`,
        ]
      return [
        ...promises(name, was, is),
        ...parameters(name, was, is, before, after),
        ...body(name, was, is, before, after),
        ...responseChanges(name, was, is, before, after),
      ]
    }),
  )
  return [...new Set(changes)]
}

function promises(name: string, was: Operation, is: Operation): string[] {
  const ways = (operation: Operation) => JSON.stringify(operation.security ?? [])
  return [
    ...(was.operationId === is.operationId
      ? []
      : [`${name}: operationId was ${was.operationId} and is ${is.operationId} now`]),
    ...(was['x-stability'] === 'stable' && is['x-stability'] === 'alpha'
      ? [`${name} was stable and is alpha now`]
      : []),
    ...(is['x-scope'] === undefined || was['x-scope'] === is['x-scope']
      ? []
      : [`${name} needs the scope ${is['x-scope']} now`]),
    ...(ways(is) === '[]' || ways(was) === ways(is) ? [] : [`${name} wants other credentials now`]),
  ]
}

function parameters(
  name: string,
  was: Operation,
  is: Operation,
  before: Document,
  after: Document,
): string[] {
  const [old, now] = [was.parameters ?? [], is.parameters ?? []]
  const counterpart = (all: Parameter[], one: Parameter) =>
    all.find(other => other.name === one.name && other.in === one.in)
  return [
    ...old.flatMap(parameter => {
      const where = `${name}: ${parameter.in} parameter ${parameter.name}`
      const same = counterpart(now, parameter)
      if (same === undefined) return [`${where} is gone`]
      return [
        ...(same.required && !parameter.required ? [`${where} is required now`] : []),
        ...schemaChanges(
          where,
          { schema: parameter.schema, root: before },
          { schema: oneOf(parameter, same), root: after },
          'request',
        ),
      ]
    }),
    ...now
      .filter(parameter => parameter.required && counterpart(old, parameter) === undefined)
      .map(parameter => `${name}: ${parameter.in} parameter ${parameter.name} is required now`),
  ]
}

/**
 * A query parameter that became an array still takes one value, written as before: arrays are exploded there
 * by default.
 */
function oneOf(was: Parameter, { in: location, schema }: Parameter): Schema | undefined {
  if (location !== 'query' || schema?.type !== 'array' || was.schema?.type === 'array') return schema
  return schema.items as Schema
}

function body(name: string, was: Operation, is: Operation, before: Document, after: Document): string[] {
  if (is.requestBody?.required && !was.requestBody?.required) return [`${name}: a body is required now`]
  return Object.entries(was.requestBody?.content ?? {}).flatMap(([type, { schema }]) => {
    const same = is.requestBody?.content?.[type]
    if (same === undefined) return [`${name} no longer takes ${type}`]
    return schemaChanges(
      `${name}: body`,
      { schema, root: before },
      { schema: same.schema, root: after },
      'request',
    )
  })
}

function responseChanges(
  name: string,
  was: Operation,
  is: Operation,
  before: Document,
  after: Document,
): string[] {
  return Object.entries(was.responses ?? {})
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, response]) => {
      const given = is.responses?.[status]
      if (given === undefined) return [`${name} no longer responds with ${status}`]
      const old = resolve({ schema: response, root: before }) as typeof response
      const now = resolve({ schema: given, root: after }) as typeof response
      const headers = Object.keys(old.headers ?? {}).filter(header => !(header in (now.headers ?? {})))
      return [
        ...headers.map(header => `${name}: the header ${header} is gone`),
        ...Object.entries(old.content ?? {}).flatMap(([type, { schema }]) => {
          const same = now.content?.[type]
          if (same === undefined) return [`${name} no longer responds with ${type}`]
          return schemaChanges(
            `${name}: answer`,
            { schema, root: before },
            { schema: same.schema, root: after },
            'answer',
          )
        }),
      ]
    })
}
