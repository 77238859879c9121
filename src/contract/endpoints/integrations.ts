import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, none, org, v1 } from '../endpoint.ts'
import {
  ConnectedProviders,
  Connections,
  Integrations,
  OAuthProviders,
  SlackToken,
  SlackTokenInput,
} from '../organizations/integrations.ts'
import { ExecuteToolInput, ToolExecution, Tools } from '../runs/tool-execution.ts'

const of_organization = z.object({ org_id: id().describe('The organization') })

/**
 * Connections to external services, in the form of the public API (specification.md#wire-profiles, #access).
 */
export const integrationEndpoints = {
  listIntegrations: {
    ...v1,
    tag: 'integrations',
    method: 'GET',
    path: '/v1/organizations/{org_id}/integrations',
    summary: 'List the external services that the organization is connected to',
    description: '`metadata` contains the details of each connection, except secrets.',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    response: Integrations,
  },
  listMcpProviders: {
    ...v1,
    tag: 'integrations',
    method: 'GET',
    path: '/v1/mcp-providers',
    summary: 'List the providers that can be connected by OAuth',
    description: 'None in this version.',
    scope: 'org:read',
    bucket: 'standard',
    params: none,
    response: OAuthProviders,
  },
  getOAuthStatus: {
    ...v1,
    tag: 'integrations',
    method: 'GET',
    path: '/v1/oauth/tokens/status',
    summary: 'List the providers that the caller has connected',
    description: 'None in this version.',
    scope: 'org:read',
    bucket: 'standard',
    params: none,
    query: of_organization,
    response: ConnectedProviders,
  },
  revokeOAuthToken: {
    ...v1,
    tag: 'integrations',
    method: 'POST',
    path: '/v1/oauth/tokens/revoke',
    summary: 'End the connection to a provider',
    description: 'No provider can be connected in this version, so this always returns 404.',
    scope: 'runs:write',
    bucket: 'standard',
    params: none,
    query: of_organization.extend({
      provider: z.string().min(1).max(200).describe('The provider to disconnect'),
    }),
    problems: ['not_found'],
    response: Connections,
  },
  generateSlackToken: {
    ...v1,
    tag: 'slack-connect',
    method: 'POST',
    path: '/v1/slack-connect/generate-token',
    summary: 'Create a token that connects a Slack account',
    description: 'Not in this version: 501.',
    scope: 'runs:write',
    bucket: 'standard',
    params: none,
    body: SlackTokenInput,
    problems: ['not_available'],
    response: SlackToken,
  },
  listTools: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/tools',
    summary: 'List the tools that can be executed without an agent',
    description:
      'Agents have more tools: the schemas `Tool_<name>` of the document describe the inputs of all.',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    response: Tools,
  },
  executeTool: {
    ...v1,
    tag: 'agents',
    method: 'POST',
    path: '/v1/organizations/{org_id}/tools/execute',
    summary: 'Run one tool without an agent',
    description:
      'Makes one tool call in a new sandbox with the repository, its setup commands, secrets and egress rules, as a run by the same caller would. The call is an archived run with a trace: it counts for the quotas of the month, is in the audit log, commits and pushes nothing, cannot be resumed, paused or forked, and its workspace is removed when it ends. The response waits for the result, 55 seconds unless the operator chose another time; a command is killed at 80 % of that. When the time is over or the client disconnects, the run is stopped. 503: no worker is running, or none was free in that time; nothing was executed.',
    scope: 'runs:write',
    bucket: 'tool_execution',
    params: org,
    body: ExecuteToolInput,
    problems: ['not_found', 'quota_exceeded', 'conflict', 'unavailable'],
    response: ToolExecution,
  },
} as const satisfies Record<string, Endpoint>
