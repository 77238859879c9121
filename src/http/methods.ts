import { type Endpoint, pathsOf } from '../contract/endpoint.ts'
import { endpoints } from '../contract/endpoints.ts'
import { gitOperations } from '../contract/pull-requests/git-operations.ts'

const rows = ([...Object.values(endpoints), ...Object.values(gitOperations)] as Endpoint[]).flatMap(endpoint =>
  pathsOf(endpoint).map(served => ({
    method: endpoint.method,
    pattern: new RegExp(`^${served.replace(/\{\w+\}/g, '[^/]+')}$`),
    parameters: served.split('{').length,
  })),
)

/**
 * The methods that the contract serves at a path, none when it is no path of ours. Of several rows that fit, the one with the fewest
 * parameters says it: `…/agent/run/resume` is no run called "resume".
 */
export function methodsAt(path: string): string[] {
  const known = asked.get(path)
  if (known) return known
  if (asked.size === max_asked) asked.clear()
  const methods = find(path)
  asked.set(path, methods)
  return methods
}

/** What was asked last: clients ask for the same few paths again and again, and the table is long. */
const asked = new Map<string, string[]>()
const max_asked = 1_000

function find(path: string): string[] {
  const fitting = rows.filter(({ pattern }) => pattern.test(path))
  const fewest = Math.min(...fitting.map(row => row.parameters))
  return [...new Set(fitting.filter(row => row.parameters === fewest).map(row => row.method as string))]
}
