import { type McpServerSettings, mcpServerSettings } from '../contract/organizations/mcp-servers.ts'
import type { AccessTokens } from './access-tokens.ts'
import { MCP_FILE, readMcpFile } from './mcp-file.ts'
import type { Address } from './open-server.ts'
import type { Program } from './sandbox-transport.ts'

/** A server as it is set. `credential` null: it has none; `sign_in` null: nobody signs in to it. */
export type ConfiguredServer = {
  name: string
  repository_id: number | null
  settings: McpServerSettings
  credential: string | null
  sign_in: AccessTokens | null
}

/** A server that a run uses. `tools` null: all of them. */
export type RunServer = {
  name: string
  source: 'organization' | 'repository' | typeof MCP_FILE
  target: { program: Program } | { address: Address }
  tools: string[] | null
  timeout_ms: number
}

/** `problems`: what is wrong with those that the run does not use. */
export type RunServers = { servers: RunServer[]; problems: { name: string; problem: string }[] }

export const NO_SERVERS: RunServers = { servers: [], problems: [] }

/**
 * Returns the servers of a run. A server of the repository replaces that of the organization with the same
 * name, even if it is disabled; one of `.mcp.json` replaces none. `variables`: what `${NAME}` may name;
 * another name is a problem. `file` null: it is not used, or does not exist.
 */
export function serversOfRun(
  configured: readonly ConfiguredServer[],
  file: string | null,
  variables: Readonly<Record<string, string>>,
): RunServers {
  const by_name = new Map<string, ConfiguredServer & { source: RunServer['source'] }>()
  for (const server of configured)
    if (server.repository_id === null) by_name.set(server.name, { ...server, source: 'organization' })
  for (const server of configured)
    if (server.repository_id !== null) by_name.set(server.name, { ...server, source: 'repository' })
  const { servers: named, notes } = file === null ? { servers: [], notes: [] } : readMcpFile(file)
  const problems = notes.map(problem => ({ name: MCP_FILE, problem }))
  for (const { name, input } of named) {
    const settings = mcpServerSettings(input)
    if (by_name.has(name))
      problems.push({ name: MCP_FILE, problem: `${name} is left out: a configured server has its name.` })
    else
      by_name.set(name, {
        name,
        repository_id: null,
        settings,
        credential: null,
        sign_in: null,
        source: MCP_FILE,
      })
  }
  const servers: RunServer[] = []
  for (const server of by_name.values()) {
    if (!server.settings.enabled) continue
    const { target, missing } = targetOf(server, variables)
    if (missing.length > 0) problems.push({ name: server.name, problem: missingText(missing) })
    else {
      const { tools, timeout_seconds } = server.settings
      servers.push({
        name: server.name,
        source: server.source,
        target,
        tools,
        timeout_ms: timeout_seconds * 1_000,
      })
    }
  }
  return { servers, problems }
}

const missingText = (names: string[]) =>
  `It refers to ${[...new Set(names)].join(', ')}, and agents of this run receive no secret of that name.`

function targetOf(
  { settings, credential, sign_in }: ConfiguredServer,
  variables: Readonly<Record<string, string>>,
) {
  const missing: string[] = []
  const fill = (text: string) =>
    text.replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]{0,1000}))?\}/g,
      (_, name: string, fallback?: string) => {
        const value = Object.hasOwn(variables, name) ? variables[name] : fallback
        if (value === undefined) missing.push(name)
        return value ?? ''
      },
    )
  const fillAll = (set: Record<string, string>) =>
    Object.fromEntries(Object.entries(set).map(([name, text]) => [name, fill(text)]))
  const { command, args, environment, url, headers, credential_header, oauth } = settings
  const target: RunServer['target'] =
    url === null
      ? { program: { command: fill(command ?? ''), args: args.map(fill), environment: fillAll(environment) } }
      : {
          address: {
            url: fill(url),
            headers: fillAll(headers),
            credential,
            credential_header,
            oauth,
            sign_in,
          },
        }
  return { target, missing }
}
