import type { FieldError } from '../../contract/error-codes.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { fieldsOf } from './tool-schemas.ts'
import type { Tool } from './tool-table.ts'

type Arguments = Readonly<Record<string, unknown>>

/** A tool call as the HTTP request of its operation: path and query are text, as in an address. */
export type ToolRequest = {
  params: Record<string, string>
  query: Record<string, unknown>
  body: Record<string, unknown> | undefined
  idempotency_keys: string[]
}

/**
 * Splits the arguments of a tool into the parts of a request. An unknown argument is refused, because a model
 * that misspells one would not see that it had no effect. Values are checked later, by the schemas of the
 * operation.
 */
export function toolRequest(tool: Tool, given: Arguments): ToolRequest {
  const fields = fieldsOf(tool)
  const { idempotency_key, ...args } = { ...tool.defaults, ...given }
  const keyed = idempotency_key !== undefined && idempotency_key !== null
  const unknown = [
    ...Object.keys(args).filter(name => !fields.has(name)),
    ...(keyed && !tool.endpoint.idempotent ? ['idempotency_key'] : []),
  ]
  if (unknown.length > 0)
    throw new ServiceError('invalid_request', `${unknown[0]}: ${tool.name} has no such argument`, {
      errors: unknown.slice(0, 50).map(name => ({
        loc: ['arguments', name],
        msg: `${tool.name} has no such argument`,
        type: 'unrecognized_keys',
      })),
    })
  if (keyed && typeof idempotency_key !== 'string')
    throw invalid(['arguments', 'idempotency_key'], 'must be a string')
  const part = (name: 'params' | 'query' | 'body') =>
    Object.entries(args).filter(([key]) => fields.get(key) === name)
  return {
    params: Object.fromEntries(
      part('params').flatMap(([key, value]) => (isAbsent(value) ? [] : [[key, wireText(value)]])),
    ),
    query: Object.fromEntries(
      part('query').flatMap(([key, value]) =>
        isAbsent(value) ? [] : [[key, Array.isArray(value) ? value.map(wireText) : wireText(value)]],
      ),
    ),
    body: tool.endpoint.body === null ? undefined : Object.fromEntries(part('body')),
    idempotency_keys: keyed ? [idempotency_key as string] : [],
  }
}

/** Models send null for what they leave out; a path or a query has no null. */
const isAbsent = (value: unknown) => value === undefined || value === null
const wireText = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value)

/**
 * Returns the error with the locations that a caller of a tool knows: arguments, instead of path, query, body
 * and header.
 */
export function atArguments(error: ServiceError): ServiceError {
  const errors = error.errors.map(({ loc, ...rest }): FieldError => {
    const [part, ...names] = loc
    if (part === 'header') return { ...rest, loc: ['arguments', 'idempotency_key'] }
    return { ...rest, loc: ['path', 'query', 'body'].includes(String(part)) ? ['arguments', ...names] : loc }
  })
  return new ServiceError(error.code, error.message, { errors, headers: error.headers })
}
