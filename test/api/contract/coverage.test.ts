import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import type { Endpoint } from '../../../src/contract/endpoint.ts'
import { type EndpointName, endpoints } from '../../../src/contract/endpoints.ts'
import { problems } from '../../../src/contract/error-codes.ts'

/**
 * The test file of each operation; a new operation does not compile without its line. The responses that
 * every operation of its kind can have (401, 403, 404 of a path, 413, 415, 429 …) are tested for all of them
 * in matrix, tenants, bodies, conformance and limits.
 */
const homes: Record<EndpointName, string[]> = {
  getOAuthClient: ['oauth'],
  authorizeOAuthClient: ['oauth'],
  createAgentRun: ['create-run', 'create-run-refused', 'dry-run', 'quota'],
  dryRunAgentRun: ['dry-run'],
  getAgentRun: ['get-run'],
  updateAgentRun: ['update-run'],
  deleteAgentRun: ['delete-run'],
  listAgentRuns: ['list-runs'],
  resumeAgentRun: ['resume-run', 'quota'],
  resumeAgentRunById: ['resume-run-by-id', 'quota'],
  forkAgentRun: ['fork-run', 'quota'],
  stopAgentRun: ['stop-run'],
  pauseAgentRun: ['pause-run'],
  banAgentRun: ['ban-run'],
  unbanAgentRun: ['ban-run'],
  removeAgentRunFromPr: ['remove-from-pr'],
  archiveAgentRun: ['update-run'],
  unarchiveAgentRun: ['update-run'],
  getAgentRunDiff: ['run-diff'],
  listAgentRunFiles: ['run-files'],
  getAgentRunFile: ['run-files'],
  downloadAgentRunFile: ['run-files'],
  getAgentRunRecovery: ['run-recovery'],
  createClaudeCodeSession: ['recorded-sessions', 'existing-clients'],
  addClaudeCodeLog: ['recorded-sessions', 'existing-clients'],
  setClaudeCodeStatus: ['recorded-sessions', 'existing-clients'],
  getAgentRunLogs: ['run-logs', 'run-logs-text'],
  searchAgentRunLogs: ['search-logs'],
  getAgentRunTimeline: ['run-timeline'],
  getMessageImages: ['message-images'],
  getArtifact: ['artifacts'],
  getOrganizationLimits: ['limits-and-health'],
  getOrganizationHealth: ['limits-and-health'],
  getModelSettings: ['model-settings'],
  setModelProvider: ['model-settings'],
  deleteModelProvider: ['model-settings'],
  setModel: ['model-settings'],
  deleteModel: ['model-settings'],
  testModel: ['model-settings'],
  listSkills: ['skills'],
  getSkill: ['skills'],
  setSkill: ['skills'],
  deleteSkill: ['skills'],
  listMcpServers: ['mcp-servers'],
  setMcpServer: ['mcp-servers'],
  deleteMcpServer: ['mcp-servers'],
  listRepositoryMcpServers: ['mcp-servers'],
  setRepositoryMcpServer: ['mcp-servers'],
  deleteRepositoryMcpServer: ['mcp-servers'],
  streamAgentRunEvents: ['run-events', 'slow-reader'],
  streamOrganizationEvents: ['organization-events'],
  listRepositories: ['repositories'],
  createRepository: ['repositories'],
  getRepository: ['repositories'],
  updateRepository: ['repositories'],
  deleteRepository: ['repositories'],
  getCheckSuiteSettings: ['check-suite-settings'],
  updateCheckSuiteSettings: ['check-suite-settings'],
  listSecrets: ['secrets'],
  setSecret: ['secrets'],
  deleteSecret: ['secrets'],
  listRepositorySecrets: ['secrets'],
  setRepositorySecret: ['secrets'],
  deleteRepositorySecret: ['secrets'],
  connectGitHub: ['forges'],
  disconnectGitHub: ['forges'],
  listGitHubRepositories: ['forges'],
  receiveGitHub: ['hooks-github'],
  connectGitea: ['gitea'],
  disconnectGitea: ['gitea'],
  listGiteaRepositories: ['gitea'],
  receiveGitea: ['gitea'],
  createGitHubApp: ['github-app'],
  openGitHubManifest: ['github-app'],
  getGitHubApp: ['github-app'],
  finishGitHubApp: ['github-app'],
  getSetupCommands: ['setup-commands'],
  setSetupCommands: ['setup-commands'],
  listRelatedAgentRuns: ['related-runs'],
  getAgentRunStartup: ['startups'],
  getRepositoryStartups: ['startups'],
  listEnvironments: ['environments'],
  dropEnvironments: ['environments'],
  dropEnvironment: ['environments'],
  getCheckCommands: ['checks'],
  setCheckCommands: ['checks'],
  listPullRequestChecks: ['checks'],
  getEgress: ['egress'],
  setEgress: ['egress'],
  getRepositoryEgress: ['egress'],
  setRepositoryEgress: ['egress'],
  allowRepositoryEgress: ['egress'],
  listPullRequests: ['pull-requests'],
  getPullRequest: ['pull-requests'],
  mergePullRequest: ['merge-pull-request', 'merge-refused'],
  editPullRequest: ['pull-requests', 'edit-pull-request'],
  listPullRequestCommits: ['pull-request-contents'],
  getPullRequestDiff: ['pull-request-contents'],
  listPullRequestComments: ['pull-request-comments'],
  createPullRequestComment: ['pull-request-comments'],
  updatePullRequestComment: ['pull-request-comments'],
  deletePullRequestComment: ['pull-request-comments'],
  editRepositoryPullRequest: ['pull-requests'],
  listOrganizations: ['organizations'],
  createOrganization: ['organizations'],
  getOrganization: ['organizations'],
  updateOrganization: ['organizations'],
  getOrganizationSettings: ['organizations'],
  listModels: ['models'],
  listAgents: ['models'],
  getUsage: ['usage'],
  generateSetupCommands: ['analysis', 'quota'],
  listSandboxes: ['sandboxes'],
  getSandbox: ['sandboxes'],
  startMcpSignIn: ['mcp-sign-in'],
  startRepositoryMcpSignIn: ['mcp-sign-in'],
  getMcpSignIn: ['mcp-sign-in'],
  finishMcpSignIn: ['mcp-sign-in'],
  getSandboxLogs: ['sandboxes'],
  analyzeSandboxLogs: ['log-analysis'],
  analyzeAgentRunLogs: ['log-analysis'],
  analyzeLogs: ['log-analysis'],
  getWebhook: ['webhooks'],
  setWebhook: ['webhooks'],
  deleteWebhook: ['webhooks'],
  testWebhook: ['webhooks'],
  listWebhookDeliveries: ['webhook-deliveries'],
  getWebhookDelivery: ['webhook-deliveries'],
  redeliverWebhook: ['webhook-deliveries'],
  redeliverFailedWebhooks: ['webhook-deliveries'],
  listIntegrations: ['integrations'],
  listMcpProviders: ['integrations'],
  getOAuthStatus: ['integrations'],
  revokeOAuthToken: ['integrations'],
  generateSlackToken: ['integrations'],
  listTools: ['execute-tool'],
  executeTool: ['execute-tool'],
  getMe: ['users'],
  updateMe: ['users'],
  getCliRules: ['users'],
  listUsers: ['users'],
  getUser: ['users'],
  listMembers: ['members'],
  inviteMember: ['members'],
  listInvitations: ['list-invitations'],
  revokeInvitation: ['list-invitations'],
  acceptInvitation: ['invitations'],
  openInvitation: ['invitations'],
  acceptSessionInvitation: ['invitations'],
  updateMember: ['members'],
  removeMember: ['remove-member'],
  createSignInLink: ['sign-in-link'],
  listServiceUsers: ['service-users'],
  createServiceUser: ['service-users'],
  deleteServiceUser: ['service-users'],
  listTokens: ['tokens'],
  createToken: ['create-token'],
  revokeToken: ['tokens'],
  listAuditLog: ['audit-log'],
  createSession: ['session'],
  createSessionToken: ['session'],
  deleteSession: ['session'],
  getHealth: ['service-state'],
  getReadiness: ['service-state'],
  getOpenApi: ['methods'],
}

const folder = join(import.meta.dirname, '..')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
const fileOf = (home: string) => {
  const found = files.find(path => [`${home}.test.ts`, `${home}.long.test.ts`].includes(basename(path)))
  return found && join(folder, found)
}
const rows = (Object.entries(endpoints) as [EndpointName, Endpoint][]).map(([name, endpoint]) => {
  const text = homes[name]
    .map(fileOf)
    .map(file => (file === undefined ? '' : readFileSync(file, 'utf8')))
    .join('\n')
  return { name, endpoint, text }
})

/** Statuses that a describe or a test names. */
const named = (text: string) =>
  new Set(
    [...text.matchAll(/^\s*(?:describe|test)\b.*/gm)].flatMap(([line]) =>
      [...line.matchAll(/['"`,[ ]([2-5]\d\d)\b/g)].map(([, status]) => Number(status)),
    ),
  )

test('every operation has a file of tests, and it requests the path', () => {
  expect(
    Object.values(homes)
      .flat()
      .filter(home => fileOf(home) === undefined),
  ).toEqual([])
  const unused = rows.filter(({ endpoint, text }) => {
    const last = endpoint.path.split('/').findLast(part => part !== '' && !part.startsWith('{')) ?? ''
    return !text.includes(last)
  })
  expect(
    unused.map(({ name, endpoint }) => `${name}: ${homes[name]} never ask for ${endpoint.path}`),
  ).toEqual([])
})

test('there is a describe or a test for 200, or for its substitute, and for every refusal that is specific to an operation', () => {
  const missing = rows.flatMap(({ name, endpoint, text }) => {
    const own = (endpoint.problems ?? []).map(code => problems[code].status as number)
    const wanted = own.includes(501) ? own : [200, ...own]
    return [...new Set(wanted)]
      .filter(status => !named(text).has(status))
      .map(status => `${name}: describe('${status}', …) in test/api/${homes[name]}.test.ts`)
  })
  expect(missing).toEqual([])
})
