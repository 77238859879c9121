import { z } from 'zod'
import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import { McpServer, McpServerInput, McpServerPage, mcpServerName } from '../organizations/mcp-servers.ts'
import {
  McpSignInQuery,
  McpSignInRequest,
  McpSignInResponse,
  McpSignInResult,
  McpSignInStart,
} from '../organizations/mcp-sign-in.ts'
import { namedPageQuery } from '../page.ts'

const base = { ...v1, tag: 'mcp-servers', bucket: 'standard' } as const
const of_organization = '/v1/organizations/{org_id}/mcp-servers'
const of_repository = '/v1/organizations/{org_id}/repos/{repo_id}/mcp-servers'
const of_sign_in = '/v1/organizations/{org_id}/mcp-sign-in'
/**
 * The page of the web interface to which authorization servers send people back: the redirect URI of every
 * sign-in.
 */
export const MCP_SIGN_IN_PATH = '/mcp-sign-in'
const server = { server: mcpServerName() }
const given =
  'The built-in agent gets its tools as `<server>__<tool>` from the next turn of a run on. A program runs inside the sandbox of the run; an address is reached under the egress rules of the run, with the credential added outside of the sandbox. At most 20 of them: one more is 409.'

const signing_in =
  'The service discovers the authorization server of the MCP server, registers itself there if the settings name no client, and returns the page at which the person allows the access. The authorization server then sends the browser to the page `/mcp-sign-in` of the web interface, which completes the sign-in as the person who is signed in there. An earlier link of the same server is no longer valid. 409 when the server or its authorization server cannot be used, with the reason.'

const completing =
  'The state begins with the id of its organization. 403 for a caller who may not set the server; the sign-in then remains open. 404 for a state that is not of this organization, too old or used, or whose server has changed.'

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
  startMcpSignIn: {
    ...base,
    method: 'POST',
    path: `${of_organization}/{server}/sign-in`,
    summary: 'Sign in to an MCP server of the organization',
    description: signing_in,
    scope: 'org:admin',
    params: org.extend(server),
    problems: ['conflict'],
    response: McpSignInStart,
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
  startRepositoryMcpSignIn: {
    ...base,
    method: 'POST',
    path: `${of_repository}/{server}/sign-in`,
    summary: 'Sign in to an MCP server of a repository',
    description: signing_in,
    scope: 'repos:admin',
    params: repository.extend(server),
    problems: ['conflict'],
    response: McpSignInStart,
  },
  getMcpSignIn: {
    ...base,
    method: 'GET',
    path: of_sign_in,
    summary: 'Get a pending sign-in',
    description: `Another person than the one who began the sign-in should see this before completing it. ${completing}`,
    scope: null,
    reach: 'verb',
    params: org,
    query: McpSignInQuery,
    problems: ['not_found'],
    response: McpSignInRequest,
  },
  finishMcpSignIn: {
    ...base,
    method: 'POST',
    path: of_sign_in,
    summary: 'Complete a sign-in to an MCP server',
    description: `The service exchanges the code for tokens, with which runs use the server. ${completing} Each state is used once.`,
    scope: null,
    reach: 'verb',
    params: org,
    body: McpSignInResponse,
    problems: ['not_found', 'conflict'],
    response: McpSignInResult,
  },
} as const satisfies Record<string, Endpoint>
