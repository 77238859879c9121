import { createHash } from 'node:crypto'

/** What all providers accept. */
const MAX_NAME = 64
const HASH_CHARS = 8

/** Between the name of a server and that of its tool: names of servers have no underscore. */
const SEPARATOR = '__'

/**
 * Returns the names under which the tools of a server are offered, in the order of `tools`:
 * `<server>__<tool>` with other characters than letters, digits, _ and - replaced. A name that is too long or
 * taken ends with a digest of the tool's own name, so that it is the same in each turn.
 */
export function offeredNames(server: string, tools: readonly string[]): string[] {
  const plain = tools.map(tool => plainName(server, tool))
  return tools.map((tool, i) => {
    const name = plain[i] ?? ''
    const is_unique = plain.indexOf(name) === plain.lastIndexOf(name)
    return is_unique && name.length <= MAX_NAME
      ? name
      : `${name.slice(0, MAX_NAME - HASH_CHARS - 1)}_${digest(tool)}`
  })
}

/** Returns the server that the name of a tool begins with; null: it begins with none. */
export const serverOfTool = (name: string): string | null =>
  name.includes(SEPARATOR) ? (name.split(SEPARATOR)[0] ?? null) : null

const plainName = (server: string, tool: string) =>
  `${server}${SEPARATOR}${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, HASH_CHARS)
