import { type EndpointName, endpoints } from '../../../src/contract/endpoints.ts'
import { followed, operations, type Schema } from './document.ts'
import type { Ids } from './every-endpoint.ts'

/**
 * A field of a request that names something: `keys` is its path in the body, `[]` means each item of a list.
 */
export type IdField = {
  operation: EndpointName
  location: 'path' | 'query' | 'body'
  keys: string[]
  names: keyof Ids
}

/** The type of object that each name refers to; null: nothing that belongs to an organization. */
export const meanings: Record<string, keyof Ids | null> = {
  org_id: 'org_id',
  agent_run_id: 'run_id',
  parent_run_id: 'run_id',
  repo_id: 'repo_id',
  default_repo_id: 'repo_id',
  user_id: 'user_id',
  pr_id: 'pr_id',
  repository_ids: 'repo_id',
  token_id: 'token_id',
  service_user_id: 'service_user_id',
  artifact_id: 'artifact_id',
  delivery_id: 'delivery_id',
  comment_id: 'comment_id',
  environment_id: 'environment_id',
  sandbox_id: 'sandbox_id',
  invitation_id: 'invitation_id',
  // Numbers of GitHub.
  app_id: null,
  installation_id: null,
  github_user_id: null,
  // Names, not ids, also of models, providers, skills and MCP servers. A session belongs to its user: see
  // recorded-sessions.test.ts.
  session_id: null,
  name: null,
  provider: null,
  skill: null,
  server: null,
  // Of an OAuth client at another service.
  client_id: null,
  id: null,
  // Positions of cards on the boards of existing clients.
  before_card_order_id: null,
  after_card_order_id: null,
}

/**
 * Every field of every operation with a token that takes an id, by its name in the document. A name without
 * an explanation is an error.
 */
export function idFields(): IdField[] {
  const requested = operations.filter(
    ({ operationId }) => isOwn(operationId) && endpoints[operationId].access === 'token',
  )
  return requested.flatMap(({ operationId, parameters, requestBody }) => {
    // Every parameter of a path names an object.
    const given = parameters.filter(
      ({ name, in: location }) => location === 'path' || (location === 'query' && isIdLike(name)),
    )
    const body = requestBody ? idKeys(requestBody.content['application/json'].schema, []) : []
    return [
      ...given.map(({ name, in: location }) => ({ location, keys: [name] })),
      ...body.map(keys => ({ location: 'body', keys })),
    ].flatMap(({ location, keys }) => {
      const name = keys.findLast(key => key !== '[]') ?? ''
      const names = meanings[name]
      if (names === undefined)
        throw new Error(`${operationId} takes ${name}: say in test/api/contract/id-fields.ts what it names`)
      return names === null
        ? []
        : [{ operation: operationId as EndpointName, location: location as IdField['location'], keys, names }]
    })
  })
}

const isOwn = (name: string): name is EndpointName => name in endpoints
const isIdLike = (name: string) => /(^|_)ids?$/.test(name)

function idKeys(schema: Schema, keys: string[]): string[][] {
  const { properties = {}, items, anyOf = [] } = followed(schema)
  const found = [
    ...(items ? idKeys(items, [...keys, '[]']) : []),
    ...anyOf.flatMap(one => idKeys(one, keys)),
    ...Object.entries(properties).flatMap(([name, inner]) =>
      isIdLike(name)
        ? [isList(inner) ? [...keys, name, '[]'] : [...keys, name]]
        : idKeys(inner, [...keys, name]),
    ),
  ]
  return [...new Map(found.map(item => [item.join('.'), item])).values()]
}

const isList = ({ items, anyOf = [] }: Schema): boolean => items !== undefined || anyOf.some(isList)

/** The body with this value at these keys. */
export function withValueAt(body: unknown, [key, ...rest]: string[], value: unknown): unknown {
  if (key === undefined) return value
  if (key === '[]') return [withValueAt(Array.isArray(body) ? body[0] : undefined, rest, value)]
  const object = (body ?? {}) as Record<string, unknown>
  return { ...object, [key]: withValueAt(object[key], rest, value) }
}
