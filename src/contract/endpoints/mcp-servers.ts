import { z } from 'zod'
import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import { McpServer, McpServerInput, McpServerPage, mcpServerName } from '../organizations/mcp-servers.ts'
import { namedPageQuery } from '../page.ts'

const base = { ...v1, tag: 'mcp-servers', bucket: 'standard' } as const
const of_organization = '/v1/organizations/{org_id}/mcp-servers'
const of_repository = '/v1/organizations/{org_id}/repos/{repo_id}/mcp-servers'
const server = { server: mcpServerName() }
const given =
  'The built-in agent gets its tools as `<server>__<tool>` from the next turn of a run on. A program runs inside the sandbox of the run; an address is reached under the egress rules of the run, with the credential added outside of the sandbox. At most 20 of them: one more is 409.'

/** MCP servers whose tools agents use (specification.md#access). */
export const mcpServerEndpoints = {
  listMcpServers: {
    ...base,
    method: 'GET',
    path: of_organization,
    summary: 'List the MCP servers of the organization',
    scope: 'org:admin',
    params: org,
    query: z.object(namedPageQuery),
    ordered_by: 'name',
    response: McpServerPage,
  },
  setMcpServer: {
    ...base,
    method: 'PUT',
    path: `${of_organization}/{server}`,
    summary: 'Set an MCP server of the organization',
    description: `${given} A server of a repository with the same name replaces it for runs of that repository.`,
    scope: 'org:admin',
    params: org.extend(server),
    problems: ['conflict'],
    body: McpServerInput,
    response: McpServer,
  },
  deleteMcpServer: {
    ...base,
    method: 'DELETE',
    path: `${of_organization}/{server}`,
    summary: 'Delete an MCP server of the organization',
    scope: 'org:admin',
    params: org.extend(server),
    problems: ['not_found'],
    response: McpServer,
  },
  listRepositoryMcpServers: {
    ...base,
    method: 'GET',
    path: of_repository,
    summary: 'List the MCP servers of a repository',
    scope: 'repos:admin',
    params: repository,
    query: z.object(namedPageQuery),
    ordered_by: 'name',
    response: McpServerPage,
  },
  setRepositoryMcpServer: {
    ...base,
    method: 'PUT',
    path: `${of_repository}/{server}`,
    summary: 'Set an MCP server of a repository',
    description: `${given} It replaces the server of the organization with the same name; with \`enabled: false\` runs of this repository have neither. It is deleted with the repository.`,
    scope: 'repos:admin',
    params: repository.extend(server),
    problems: ['conflict'],
    body: McpServerInput,
    response: McpServer,
  },
  deleteRepositoryMcpServer: {
    ...base,
    method: 'DELETE',
    path: `${of_repository}/{server}`,
    summary: 'Delete an MCP server of a repository',
    scope: 'repos:admin',
    params: repository.extend(server),
    problems: ['not_found'],
    response: McpServer,
  },
} as const satisfies Record<string, Endpoint>
