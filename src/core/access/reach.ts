import type { Endpoint } from '../../contract/endpoint.ts'

/** Names of fields that say of which repository a request is, each by way of what it names. */
export const reaching = {
  repo_id: 'repository',
  default_repo_id: 'repository',
  agent_run_id: 'run',
  parent_run_id: 'run',
  pr_id: 'pull_request',
  artifact_id: 'artifact',
  sandbox_id: 'sandbox',
} as const
export type Reached = (typeof reaching)[keyof typeof reaching]

/**
 * What a token that is bound to repositories may do by an operation: `named` when the request names things of its repositories, `filtered`
 * when the verb narrows by itself, `verb` when it also says what is out of reach, `free` when it is about no repository, `none` otherwise: what nobody thought of is closed.
 */
export function reachOf(endpoint: Endpoint): 'named' | 'filtered' | 'free' | 'none' | 'verb' {
  if (endpoint.reach !== undefined) return endpoint.reach
  // Who administers the organization is bound by nothing in it.
  if (endpoint.scope === 'org:admin') return 'none'
  if (fieldsOf(endpoint).some(field => field in reaching)) return 'named'
  return endpoint.method === 'GET' && (endpoint.scope === 'org:read' || endpoint.scope === null) ? 'free' : 'none'
}

function fieldsOf({ params, query, body }: Endpoint): string[] {
  const shape = body !== null && 'shape' in body ? (body.shape as Record<string, unknown>) : {}
  return [...Object.keys(params.shape), ...Object.keys(query.shape), ...Object.keys(shape)]
}

/** The things that a parsed request names, by kind and id. */
export function namedIn(input: { params: unknown; query: unknown; body: unknown }): { kind: Reached; id: number }[] {
  const fields = [input.params, input.query, input.body].flatMap(part =>
    typeof part === 'object' && part !== null ? Object.entries(part) : [],
  )
  return fields.flatMap(([name, value]) =>
    Object.hasOwn(reaching, name)
      ? [value].flat().flatMap(id => (typeof id === 'number' ? [{ kind: reaching[name as keyof typeof reaching], id }] : []))
      : [],
  )
}
