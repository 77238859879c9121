import { type McpServerInput, McpServerInput as ServerInput } from '../contract/organizations/mcp-servers.ts'
import { parseJson } from '../core/json/parse-json.ts'

/** The servers that a repository names. `notes`: what is wrong with the others. */
type McpFile = { servers: { name: string; input: McpServerInput }[]; notes: string[] }

export const MCP_FILE = '.mcp.json'
const MAX_SERVERS = 20
const MAX_NOTES = 10
/** What other programs write there and this service does not need. */
const FIELDS = ['command', 'args', 'env', 'url', 'headers', 'timeout']

/**
 * Reads an `.mcp.json` as other agents do: `mcpServers` with `command`, `args` and `env`, or `url` and
 * `headers`. Names of servers become those of this service: lower-case letters, digits and hyphens.
 */
export function readMcpFile(text: string): McpFile {
  const entries = entriesOf(text)
  if (entries === null) return { servers: [], notes: ['It is not a JSON object with `mcpServers`.'] }
  const servers: McpFile['servers'] = []
  const notes: string[] =
    entries.length > MAX_SERVERS
      ? [`It names more than ${MAX_SERVERS} servers: the others are left out.`]
      : []
  for (const [given, value] of entries.slice(0, MAX_SERVERS)) {
    const name = serverName(given)
    const read = serverOf(value)
    if (name === '') notes.push(`${shown(given)} cannot be the name of a server.`)
    else if (servers.some(server => server.name === name)) notes.push(`${shown(given)} is named twice.`)
    else if ('problem' in read) notes.push(`${shown(given)}: ${read.problem}`)
    else servers.push({ name, input: read.input })
  }
  return { servers, notes: notes.slice(0, MAX_NOTES) }
}

function entriesOf(text: string): [string, unknown][] | null {
  const { mcpServers } = Object(parseJson('repository_file', text))
  return typeof mcpServers === 'object' && mcpServers !== null && !Array.isArray(mcpServers)
    ? Object.entries(mcpServers)
    : null
}

const serverName = (given: string): string =>
  given
    .slice(0, 100)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 32)
    .replace(/-$/, '')

function serverOf(value: unknown): { input: McpServerInput } | { problem: string } {
  if (typeof value !== 'object' || value === null) return { problem: 'it is not an object.' }
  const { type } = value as { type?: unknown }
  if (type === 'sse')
    return { problem: 'the transport sse is not supported; most servers have Streamable HTTP too.' }
  const { env, timeout, ...rest } = Object.fromEntries(
    Object.entries(value).filter(([key]) => FIELDS.includes(key)),
  )
  const seconds =
    typeof timeout === 'number' && timeout >= 1_000
      ? { timeout_seconds: Math.min(3_600, Math.ceil(timeout / 1_000)) }
      : {}
  const parsed = ServerInput.safeParse({
    ...rest,
    ...(env !== undefined && { environment: env }),
    ...seconds,
  })
  if (parsed.success) return { input: parsed.data }
  const [issue] = parsed.error.issues
  return { problem: `${issue?.path.join('.') ?? 'it'} ${issue?.message ?? 'is not valid'}.` }
}

const shown = (text: string) => JSON.stringify(text.slice(0, 100))
