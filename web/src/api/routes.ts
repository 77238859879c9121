import type { Endpoints } from '../../../src/contract/endpoints.ts'

/** The operations the pages use. Method and path must be those of the contract, or this does not compile. */
export const routes = {
  createAgentRun: { method: 'POST', path: '/v1/organizations/{org_id}/agent/run' },
  getAgentRun: { method: 'GET', path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}' },
  updateAgentRun: { method: 'PATCH', path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}' },
  listAgentRuns: { method: 'GET', path: '/v1/organizations/{org_id}/agent/runs' },
  resumeAgentRun: { method: 'POST', path: '/v1/organizations/{org_id}/agent/run/resume' },
  forkAgentRun: { method: 'POST', path: '/v1/organizations/{org_id}/agent/run/fork' },
  stopAgentRun: { method: 'POST', path: '/v1/organizations/{org_id}/agent/run/stop' },
  pauseAgentRun: { method: 'POST', path: '/v1/organizations/{org_id}/agent/run/pause' },
  archiveAgentRun: { method: 'POST', path: '/v1/organizations/{org_id}/agent/run/archive' },
  unarchiveAgentRun: { method: 'POST', path: '/v1/organizations/{org_id}/agent/run/unarchive' },
  getAgentRunLogs: { method: 'GET', path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/logs' },
  getArtifact: { method: 'GET', path: '/v1/organizations/{org_id}/artifacts/{artifact_id}' },
  getPullRequest: { method: 'GET', path: '/v1/organizations/{org_id}/prs/{pr_id}' },
  listPullRequestChecks: { method: 'GET', path: '/v1/organizations/{org_id}/prs/{pr_id}/checks' },
  mergePullRequest: { method: 'POST', path: '/v1/organizations/{org_id}/prs/{pr_id}/merge' },
  editPullRequest: { method: 'PATCH', path: '/v1/organizations/{org_id}/prs/{pr_id}' },
  listPullRequestCommits: { method: 'GET', path: '/v1/organizations/{org_id}/prs/{pr_id}/commits' },
  listPullRequestComments: { method: 'GET', path: '/v1/organizations/{org_id}/prs/{pr_id}/comments' },
  createPullRequestComment: { method: 'POST', path: '/v1/organizations/{org_id}/prs/{pr_id}/comments' },
  deletePullRequestComment: { method: 'DELETE', path: '/v1/organizations/{org_id}/prs/{pr_id}/comments/{comment_id}' },
  getAgentRunDiff: { method: 'GET', path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/diff' },
  streamAgentRunEvents: { method: 'GET', path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/events' },
  streamOrganizationEvents: { method: 'GET', path: '/v1/organizations/{org_id}/events' },
  listOrganizations: { method: 'GET', path: '/v1/organizations' },
  getMe: { method: 'GET', path: '/v1/users/me' },
  listRepositories: { method: 'GET', path: '/v1/organizations/{org_id}/repos' },
  getRepositoryEgress: { method: 'GET', path: '/v1/organizations/{org_id}/repos/{repo_id}/egress' },
  allowRepositoryEgress: { method: 'POST', path: '/v1/organizations/{org_id}/repos/{repo_id}/egress/allow' },
  listRelatedAgentRuns: { method: 'GET', path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/related' },
  getAgentRunStartup: { method: 'GET', path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/startup' },
  getRepositoryStartups: { method: 'GET', path: '/v1/organizations/{org_id}/repos/{repo_id}/startups' },
  listEnvironments: { method: 'GET', path: '/v1/organizations/{org_id}/repos/{repo_id}/environments' },
  dropEnvironment: { method: 'DELETE', path: '/v1/organizations/{org_id}/repos/{repo_id}/environments/{environment_id}' },
  listIntegrations: { method: 'GET', path: '/v1/organizations/{org_id}/integrations' },
  connectGitHub: { method: 'PUT', path: '/v1/organizations/{org_id}/integrations/github' },
  disconnectGitHub: { method: 'DELETE', path: '/v1/organizations/{org_id}/integrations/github' },
  createGitHubApp: { method: 'POST', path: '/v1/organizations/{org_id}/integrations/github/app' },
  connectGitea: { method: 'PUT', path: '/v1/organizations/{org_id}/integrations/gitea' },
  disconnectGitea: { method: 'DELETE', path: '/v1/organizations/{org_id}/integrations/gitea' },
  setSetupCommands: { method: 'PUT', path: '/v1/organizations/{org_id}/repos/{repo_id}/setup-commands' },
  listSandboxes: { method: 'GET', path: '/v1/organizations/{org_id}/sandboxes' },
  analyzeAgentRunLogs: { method: 'POST', path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/analyze-logs' },
  listModels: { method: 'GET', path: '/v1/organizations/{org_id}/models' },
  createSession: { method: 'POST', path: '/session' },
  createSessionToken: { method: 'POST', path: '/session/token' },
  openInvitation: { method: 'POST', path: '/session/invitation' },
  acceptSessionInvitation: { method: 'POST', path: '/session/invitation/accept' },
  deleteSession: { method: 'DELETE', path: '/session' },
  getReadiness: { method: 'GET', path: '/readyz' },
  getOpenApi: { method: 'GET', path: '/openapi.json' },
} as const satisfies { [N in keyof Endpoints]?: { method: Endpoints[N]['method']; path: Endpoints[N]['path'] } }

export type RouteName = keyof typeof routes

/** A path with its `{names}` filled in. */
export function pathOf(name: RouteName, values: Record<string, number>): string {
  return routes[name].path.replace(/\{(\w+)\}/g, (_match, key: string) => String(values[key]))
}
