import type { Endpoint } from '../../contract/endpoint.ts'

/** Fields that identify the repository of a request, each with the kind of resource that it names. */
const reaching = {
  repo_id: 'repository',
  default_repo_id: 'repository',
  agent_run_id: 'run',
  parent_run_id: 'run',
  pr_id: 'pull_request',
  artifact_id: 'artifact',
  sandbox_id: 'sandbox',
} as const
export type ReachedKind = (typeof reaching)[keyof typeof reaching]

/**
 * Returns how a token that is limited to repositories may use an operation: `named` when the request names
 * resources of repositories, `filtered` when the verb filters its result, `verb` when the verb also reports
 * what is out of reach, `free` when no repository is involved, and `none` (the default, so that a new
 * operation is closed) otherwise.
 */
export function reachOf(endpoint: Endpoint): 'named' | 'filtered' | 'free' | 'none' | 'verb' {
  if (endpoint.reach !== undefined) return endpoint.reach
  // An administrator of the organization is never limited to repositories.
  if (endpoint.scope === 'org:admin') return 'none'
  if (fieldsOf(endpoint).some(field => field in reaching)) return 'named'
  return endpoint.method === 'GET' && (endpoint.scope === 'org:read' || endpoint.scope === null)
    ? 'free'
    : 'none'
}

function fieldsOf({ params, query, body }: Endpoint): string[] {
  const shape = body !== null && 'shape' in body ? (body.shape as Record<string, unknown>) : {}
  return [...Object.keys(params.shape), ...Object.keys(query.shape), ...Object.keys(shape)]
}

/** Returns the resources that a parsed request names, by kind and id. */
export function namedIn(input: {
  params: unknown
  query: unknown
  body: unknown
}): { kind: ReachedKind; id: number }[] {
  const fields = [input.params, input.query, input.body].flatMap(part =>
    typeof part === 'object' && part !== null ? Object.entries(part) : [],
  )
  return fields.flatMap(([name, value]) =>
    Object.hasOwn(reaching, name)
      ? [value]
          .flat()
          .flatMap(id =>
            typeof id === 'number' ? [{ kind: reaching[name as keyof typeof reaching], id }] : [],
          )
      : [],
  )
}
