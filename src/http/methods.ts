import { type Endpoint, methodsOf, pathsOf } from '../contract/endpoint.ts'
import { endpoints } from '../contract/endpoints.ts'
import { mcpOperations } from '../contract/mcp/mcp-operations.ts'
import { oauthOperations } from '../contract/oauth/oauth-endpoints.ts'
import { gitOperations } from '../contract/pull-requests/git-operations.ts'

/** Git and MCP have no HEAD: their programs send none. */
const served = [
  ...([...Object.values(endpoints), ...Object.values(oauthOperations)] as Endpoint[]).map(endpoint => ({
    endpoint,
    methods: methodsOf(endpoint) as string[],
  })),
  ...([...Object.values(gitOperations), ...Object.values(mcpOperations)] as Endpoint[]).map(endpoint => ({
    endpoint,
    methods: [endpoint.method as string],
  })),
]
const rows = served.flatMap(({ endpoint, methods }) =>
  pathsOf(endpoint).map(path => ({
    methods,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    parameters: path.split('{').length,
  })),
)

/**
 * Returns the methods that the contract serves at a path, none for an unknown path. When several rows match,
 * the one with the fewest parameters applies: `…/agent/run/resume` is not a run called "resume".
 */
export function methodsAt(path: string): string[] {
  const known = recent.get(path)
  if (known) return known
  if (recent.size === MAX_RECENT) recent.clear()
  const methods = find(path)
  recent.set(path, methods)
  return methods
}

/** Results for recent paths: clients request the same few paths repeatedly, and the table is long. */
const recent = new Map<string, string[]>()
const MAX_RECENT = 1_000

function find(path: string): string[] {
  const fitting = rows.filter(({ pattern }) => pattern.test(path))
  const fewest = Math.min(...fitting.map(row => row.parameters))
  return [...new Set(fitting.filter(row => row.parameters === fewest).flatMap(row => row.methods))]
}
