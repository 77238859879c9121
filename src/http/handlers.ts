import type { z } from 'zod'
import type { EndpointName, Endpoints, HandlerInput, HandlerResult } from '../contract/endpoints.ts'
import type { Readiness } from '../contract/service.ts'
import { logsHead } from '../core/wire-profile.ts'
import { listAuditLog } from '../service/access/audit-log.ts'
import { once, type Replay } from '../service/access/idempotency.ts'
import {
  acceptInvitation,
  inviteMember,
  listInvitations,
  revokeInvitation,
} from '../service/access/invitations.ts'
import { listMembers, removeMember, updateMember } from '../service/access/members.ts'
import { authorizeClient, getOAuthClient } from '../service/access/oauth.ts'
import { createServiceUser, deleteServiceUser, listServiceUsers } from '../service/access/service-users.ts'
import { createSignInLink } from '../service/access/sign-in-links.ts'
import { createToken, listTokens, revokeToken } from '../service/access/tokens.ts'
import { getUsage, usageCsv } from '../service/access/usage.ts'
import { getCliRules, getMe, getUser, listUsers, updateMe } from '../service/access/users.ts'
import type { ActorContext, Context, Services } from '../service/context.ts'
import { finishAppManifest, getAppManifest, startAppManifest } from '../service/forges/app-manifest.ts'
import { connectForge, disconnectForge, listForgeRepositories } from '../service/forges/forges.ts'
import {
  generateSlackToken,
  listConnections,
  listIntegrations,
  revokeConnection,
} from '../service/forges/integrations.ts'
import { getOrganizationHealth } from '../service/forges/organization-health.ts'
import { allowEgress, getEgress, setEgress } from '../service/organizations/egress.ts'
import {
  deleteModel,
  deleteModelProvider,
  getModelSettings,
  setModel,
  setModelProvider,
  testModel,
} from '../service/organizations/model-settings.ts'
import { listAgents, listModels } from '../service/organizations/models.ts'
import { getOrganizationLimits } from '../service/organizations/organization-limits.ts'
import {
  createOrganization,
  getOrganization,
  getOrganizationSettings,
  listOrganizations,
  updateOrganization,
} from '../service/organizations/organizations.ts'
import {
  getCheckSuiteSettings,
  updateCheckSuiteSettings,
} from '../service/pull-requests/check-suite-settings.ts'
import { getCheckCommands, listPullRequestChecks, setCheckCommands } from '../service/pull-requests/checks.ts'
import { editPullRequest } from '../service/pull-requests/edit-pull-request.ts'
import { mergePullRequest } from '../service/pull-requests/merge-pull-request.ts'
import {
  createPullRequestComment,
  deletePullRequestComment,
  listPullRequestComments,
  updatePullRequestComment,
} from '../service/pull-requests/pull-request-comments.ts'
import { getPullRequestDiff, listPullRequestCommits } from '../service/pull-requests/pull-request-contents.ts'
import { getPullRequest, listPullRequests } from '../service/pull-requests/pull-requests.ts'
import { dropEnvironments, listEnvironments } from '../service/repositories/environments.ts'
import {
  createRepository,
  deleteRepository,
  getRepository,
  listRepositories,
  updateRepository,
} from '../service/repositories/repositories.ts'
import { getSandbox, getSandboxLogs, listSandboxes } from '../service/repositories/sandboxes.ts'
import { getSetupCommands, setSetupCommands } from '../service/repositories/setup-commands.ts'
import { executeTool, listTools } from '../service/run-kinds/execute-tool.ts'
import { generateSetupCommands } from '../service/run-kinds/generate-setup.ts'
import { analyzeLogs, analyzeRunLogs, analyzeSandboxLogs } from '../service/run-kinds/log-analysis.ts'
import {
  addSessionLog,
  createRecordedSession,
  setSessionStatus,
} from '../service/run-kinds/recorded-sessions.ts'
import { getArtifact, getMessageImages } from '../service/runs/artifacts.ts'
import { banRun, removeRunFromPullRequest, unbanRun } from '../service/runs/ban-run.ts'
import { createRun } from '../service/runs/create-run.ts'
import { deleteRun } from '../service/runs/delete-run.ts'
import { dryRunOf } from '../service/runs/dry-run.ts'
import { forkRun } from '../service/runs/fork-run.ts'
import { listRunLogs } from '../service/runs/logs/run-logs.ts'
import { searchRunLogs } from '../service/runs/logs/search-logs.ts'
import { pauseRun } from '../service/runs/pause-run.ts'
import { listRelatedRuns } from '../service/runs/related-runs.ts'
import { resumeRun } from '../service/runs/resume-run.ts'
import { getRunDiff } from '../service/runs/run-diff.ts'
import { getRunFile, getRunFileContent, listRunFiles } from '../service/runs/run-files.ts'
import { getRunRecovery } from '../service/runs/run-recovery.ts'
import { getRun, listRuns, updateRun } from '../service/runs/runs.ts'
import { getRepositoryStartups, getRunStartup } from '../service/runs/startups.ts'
import { stopRun } from '../service/runs/stop-run.ts'
import { getRunTimeline } from '../service/runs/timeline.ts'
import {
  getWebhookDelivery,
  listWebhookDeliveries,
  redeliverFailedWebhooks,
  redeliverWebhook,
} from '../service/webhooks/webhook-deliveries.ts'
import { deleteWebhook, getWebhook, setWebhook, testWebhook } from '../service/webhooks/webhooks.ts'
import { attachment } from './results/attachment.ts'
import { RawResponse } from './results/raw-response.ts'
import { setting_handlers } from './settings/setting-handlers.ts'

type Result<N extends EndpointName> = Promise<HandlerResult<Endpoints[N]> | RawResponse | Replay>
/** `gone`: a signal that aborts when nobody waits for the response. */
type ByOrganization<N extends EndpointName> = (
  ctx: Context,
  input: HandlerInput<Endpoints[N]>,
  gone: () => AbortSignal,
) => Result<N>
type ByActor<N extends EndpointName> = (ctx: ActorContext, input: HandlerInput<Endpoints[N]>) => Result<N>
/** For operations without authentication. */
export type OpenContext = Services & { readiness: () => Promise<z.infer<typeof Readiness>> }
type Open<N extends EndpointName> = (services: OpenContext, input: HandlerInput<Endpoints[N]>) => Result<N>

/**
 * Endpoints that are not plain request and response: streams, cookies and the document have files of their
 * own.
 */
type Special =
  | 'streamAgentRunEvents'
  | 'streamOrganizationEvents'
  | 'createSession'
  | 'createSessionToken'
  | 'deleteSession'
  | 'openInvitation'
  | 'acceptSessionInvitation'
  | 'getOpenApi'
  | 'receiveGitHub'
  | 'receiveGitea'
  | 'openGitHubManifest'
type OpenName = 'getHealth' | 'getReadiness'
type ActorName =
  | 'listOrganizations'
  | 'createOrganization'
  | 'getMe'
  | 'updateMe'
  | 'acceptInvitation'
  | 'listMcpProviders'
  | 'getOAuthStatus'
  | 'revokeOAuthToken'
  | 'generateSlackToken'

type Handlers = { [N in Exclude<EndpointName, Special | OpenName | ActorName>]: ByOrganization<N> } & {
  [N in ActorName]: ByActor<N>
} & {
  [N in OpenName]: Open<N>
}

const json = 'application/json; charset=utf-8'

/** One line per endpoint; the verb that it calls documents what it does. */
export const handlers: Handlers = {
  ...setting_handlers,
  createAgentRun: async (ctx, { body, query }) =>
    query.dry_run
      ? new RawResponse(JSON.stringify(await dryRunOf(ctx, body)), json)
      : once(ctx, 'createAgentRun', body, inner => createRun(inner, body)),
  dryRunAgentRun: (ctx, { body }) => dryRunOf(ctx, body),
  getAgentRun: (ctx, { params }) => getRun(ctx, params.agent_run_id),
  updateAgentRun: (ctx, { params, body }) => updateRun(ctx, params.agent_run_id, body),
  deleteAgentRun: (ctx, { params }) => deleteRun(ctx, params.agent_run_id),
  listAgentRuns: (ctx, { query }) => listRuns(ctx, query),
  resumeAgentRun: (ctx, { body }) => once(ctx, 'resumeAgentRun', body, inner => resumeRun(inner, body)),
  resumeAgentRunById: (ctx, { params, body }) => {
    const input = { ...body, agent_run_id: params.agent_run_id }
    return once(ctx, 'resumeAgentRun', input, inner => resumeRun(inner, input))
  },
  forkAgentRun: (ctx, { body }) => once(ctx, 'forkAgentRun', body, inner => forkRun(inner, body)),
  stopAgentRun: (ctx, { body }) => stopRun(ctx, body.agent_run_id),
  pauseAgentRun: (ctx, { body }) => pauseRun(ctx, body.agent_run_id),
  banAgentRun: (ctx, { body }) => banRun(ctx, body.agent_run_id),
  unbanAgentRun: (ctx, { body }) => unbanRun(ctx, body.agent_run_id),
  removeAgentRunFromPr: (ctx, { body }) => removeRunFromPullRequest(ctx, body.agent_run_id),
  archiveAgentRun: (ctx, { body }) => updateRun(ctx, body.agent_run_id, { archived: true }),
  unarchiveAgentRun: (ctx, { body }) => updateRun(ctx, body.agent_run_id, { archived: false }),
  createClaudeCodeSession: (ctx, { body }) => createRecordedSession(ctx, body.session_id),
  addClaudeCodeLog: (ctx, { params, body }) => addSessionLog(ctx, params.session_id, body.log),
  setClaudeCodeStatus: (ctx, { params, body }) => setSessionStatus(ctx, params.session_id, body.status),
  getAgentRunLogs: async (ctx, { params, query }) => {
    const { body, extent } = await listRunLogs(ctx, params.agent_run_id, query, run =>
      logsHead(ctx.actor.wire_profile, run),
    )
    return new RawResponse(body, json, {}, extent)
  },
  searchAgentRunLogs: (ctx, { params, query }) => searchRunLogs(ctx, params.agent_run_id, query),
  getAgentRunTimeline: (ctx, { params, query }) => getRunTimeline(ctx, params.agent_run_id, query),
  getAgentRunRecovery: (ctx, { params, query }) => getRunRecovery(ctx, params.agent_run_id, query),
  listRelatedAgentRuns: (ctx, { params, query }) => listRelatedRuns(ctx, params.agent_run_id, query),
  getAgentRunStartup: (ctx, { params }) => getRunStartup(ctx, params.agent_run_id),
  getRepositoryStartups: (ctx, { params, query }) => getRepositoryStartups(ctx, params.repo_id, query),
  getAgentRunDiff: async (ctx, { params, query }) => {
    const diff = await getRunDiff(ctx, params.agent_run_id, query)
    return query.format === 'patch' ? new RawResponse(diff.patch, 'text/x-patch; charset=utf-8') : diff
  },
  getMessageImages: (ctx, { params, query }) => getMessageImages(ctx, params.agent_run_id, query),
  listAgentRunFiles: (ctx, { params, query }) => listRunFiles(ctx, params.agent_run_id, query),
  getAgentRunFile: (ctx, { params, query }) => getRunFile(ctx, params.agent_run_id, query),
  downloadAgentRunFile: async (ctx, { params, query }) =>
    attachment(await getRunFileContent(ctx, params.agent_run_id, query)),
  getArtifact: async (ctx, { params }) => attachment(await getArtifact(ctx, params.artifact_id)),
  listOrganizations: (ctx, { query }) => listOrganizations(ctx, query),
  createOrganization: (ctx, { body }) => createOrganization(ctx, body),
  getOrganization: ctx => getOrganization(ctx),
  updateOrganization: (ctx, { body }) => updateOrganization(ctx, body),
  getOrganizationSettings: ctx => getOrganizationSettings(ctx),
  getMe: ctx => getMe(ctx),
  updateMe: (ctx, { body }) => updateMe(ctx, body),
  getCliRules: ctx => getCliRules(ctx),
  listUsers: (ctx, { query }) => listUsers(ctx, query),
  getUser: (ctx, { params }) => getUser(ctx, params.user_id),
  listMembers: (ctx, { query }) => listMembers(ctx, query),
  inviteMember: (ctx, { body }) => inviteMember(ctx, body),
  listInvitations: (ctx, { query }) => listInvitations(ctx, query),
  revokeInvitation: (ctx, { params }) => revokeInvitation(ctx, params.invitation_id),
  acceptInvitation: (ctx, { body }) => acceptInvitation(ctx, body.code),
  updateMember: (ctx, { params, body }) => updateMember(ctx, params.user_id, body),
  removeMember: (ctx, { params }) => removeMember(ctx, params.user_id),
  createSignInLink: (ctx, { params }) => createSignInLink(ctx, params.user_id),
  listServiceUsers: (ctx, { query }) => listServiceUsers(ctx, query),
  createServiceUser: (ctx, { body }) => createServiceUser(ctx, body),
  deleteServiceUser: (ctx, { params }) => deleteServiceUser(ctx, params.service_user_id),
  getOAuthClient: (ctx, { query }) => Promise.resolve(getOAuthClient(ctx, query)),
  authorizeOAuthClient: (ctx, { body }) => authorizeClient(ctx, body),
  listTokens: (ctx, { query }) => listTokens(ctx, query),
  createToken: (ctx, { body }) => createToken(ctx, body),
  revokeToken: (ctx, { params }) => revokeToken(ctx, params.token_id),
  listAuditLog: (ctx, { query }) => listAuditLog(ctx, query),
  listRepositories: (ctx, { query }) => listRepositories(ctx, query),
  listPullRequests: (ctx, { query }) => listPullRequests(ctx, query),
  getPullRequest: (ctx, { params }) => getPullRequest(ctx, params.pr_id),
  mergePullRequest: (ctx, { params, body }) => mergePullRequest(ctx, params.pr_id, body),
  listPullRequestCommits: (ctx, { params, query }) => listPullRequestCommits(ctx, params.pr_id, query),
  getPullRequestDiff: async (ctx, { params, query }) => {
    const diff = await getPullRequestDiff(ctx, params.pr_id)
    return query.format === 'patch' ? new RawResponse(diff.patch, 'text/x-patch; charset=utf-8') : diff
  },
  listPullRequestComments: (ctx, { params, query }) => listPullRequestComments(ctx, params.pr_id, query),
  createPullRequestComment: (ctx, { params, body }) => createPullRequestComment(ctx, params.pr_id, body),
  updatePullRequestComment: (ctx, { params, body }) => updatePullRequestComment(ctx, params, body),
  deletePullRequestComment: (ctx, { params }) => deletePullRequestComment(ctx, params),
  editPullRequest: (ctx, { params, body }) => editPullRequest(ctx, params, body),
  editRepositoryPullRequest: (ctx, { params, body }) => editPullRequest(ctx, params, body),
  createRepository: (ctx, { body }) => createRepository(ctx, body),
  getRepository: (ctx, { params }) => getRepository(ctx, params.repo_id),
  updateRepository: (ctx, { params, body }) => updateRepository(ctx, params.repo_id, body),
  deleteRepository: (ctx, { params }) => deleteRepository(ctx, params.repo_id),
  getCheckSuiteSettings: (ctx, { query }) => getCheckSuiteSettings(ctx, query.repo_id),
  updateCheckSuiteSettings: (ctx, { query, body }) => updateCheckSuiteSettings(ctx, query.repo_id, body),
  getCheckCommands: (ctx, { params }) => getCheckCommands(ctx, params.repo_id),
  setCheckCommands: (ctx, { params, body }) => setCheckCommands(ctx, params.repo_id, body),
  listPullRequestChecks: (ctx, { params, query }) => listPullRequestChecks(ctx, params.pr_id, query),
  getEgress: ctx => getEgress(ctx, null),
  setEgress: (ctx, { body }) => setEgress(ctx, null, body),
  getRepositoryEgress: (ctx, { params }) => getEgress(ctx, params.repo_id),
  setRepositoryEgress: (ctx, { params, body }) => setEgress(ctx, params.repo_id, body),
  allowRepositoryEgress: (ctx, { params, body }) => allowEgress(ctx, params.repo_id, body),
  getSetupCommands: (ctx, { params }) => getSetupCommands(ctx, params.repo_id),
  setSetupCommands: (ctx, { params, body }) => setSetupCommands(ctx, params.repo_id, body),
  listEnvironments: (ctx, { params }) => listEnvironments(ctx, params.repo_id),
  dropEnvironments: (ctx, { params }) => dropEnvironments(ctx, params.repo_id, null),
  dropEnvironment: (ctx, { params }) => dropEnvironments(ctx, params.repo_id, params.environment_id),
  getWebhook: ctx => getWebhook(ctx),
  setWebhook: (ctx, { body }) => setWebhook(ctx, body),
  deleteWebhook: ctx => deleteWebhook(ctx),
  testWebhook: (ctx, { body }) => testWebhook(ctx, body.url),
  listWebhookDeliveries: (ctx, { query }) => listWebhookDeliveries(ctx, query),
  getWebhookDelivery: (ctx, { params }) => getWebhookDelivery(ctx, params.delivery_id),
  redeliverFailedWebhooks: (ctx, { body }) => redeliverFailedWebhooks(ctx, body),
  redeliverWebhook: (ctx, { params }) => redeliverWebhook(ctx, params.delivery_id),
  getOrganizationLimits: ctx => getOrganizationLimits(ctx),
  getOrganizationHealth: ctx => getOrganizationHealth(ctx),
  listModels: ctx => listModels(ctx),
  listAgents: async ctx => listAgents(ctx),
  getModelSettings: ctx => getModelSettings(ctx),
  setModelProvider: (ctx, { params, body }) => setModelProvider(ctx, params.provider, body),
  deleteModelProvider: (ctx, { params }) => deleteModelProvider(ctx, params.provider),
  setModel: (ctx, { body }) => setModel(ctx, body),
  deleteModel: (ctx, { query }) => deleteModel(ctx, query.id),
  testModel: (ctx, { body }) => testModel(ctx, body.model),
  getUsage: async (ctx, { query }) => {
    const usage = await getUsage(ctx, query)
    return query.format === 'csv' ? new RawResponse(usageCsv(usage.items), 'text/csv; charset=utf-8') : usage
  },
  generateSetupCommands: (ctx, { body }) =>
    once(ctx, 'generateSetupCommands', body, inner => generateSetupCommands(inner, body)),
  listSandboxes: (ctx, { query }) => listSandboxes(ctx, query),
  getSandbox: (ctx, { params }) => getSandbox(ctx, params.sandbox_id),
  getSandboxLogs: async (ctx, { params, query }) => {
    const { body, extent } = await getSandboxLogs(ctx, params.sandbox_id, query)
    return new RawResponse(body, json, {}, extent)
  },
  analyzeSandboxLogs: (ctx, { params, body }) => analyzeSandboxLogs(ctx, params.sandbox_id, body),
  analyzeAgentRunLogs: (ctx, { params, body }) => analyzeRunLogs(ctx, params.agent_run_id, body),
  analyzeLogs: (ctx, { body }) => analyzeLogs(ctx, body),
  listIntegrations: ctx => listIntegrations(ctx),
  connectGitHub: (ctx, { body }) => connectForge(ctx, 'github', body),
  connectGitea: (ctx, { body }) => connectForge(ctx, 'gitea', body),
  createGitHubApp: (ctx, { body }) => startAppManifest(ctx, body),
  getGitHubApp: (ctx, { query }) => getAppManifest(ctx, query.state),
  finishGitHubApp: (ctx, { body }) => finishAppManifest(ctx, body),
  disconnectGitHub: (ctx, { query }) => disconnectForge(ctx, 'github', query.url),
  disconnectGitea: (ctx, { query }) => disconnectForge(ctx, 'gitea', query.url),
  listGitHubRepositories: (ctx, { query }) => listForgeRepositories(ctx, 'github', query),
  listGiteaRepositories: (ctx, { query }) => listForgeRepositories(ctx, 'gitea', query),
  listMcpProviders: async () => [],
  getOAuthStatus: (ctx, { query }) => listConnections(ctx, query.org_id),
  revokeOAuthToken: (ctx, { query }) => revokeConnection(ctx, query.org_id, query.provider),
  generateSlackToken: (ctx, { body }) => generateSlackToken(ctx, body.org_id),
  listTools: () => listTools(),
  executeTool: (ctx, { body }, gone) => executeTool(ctx, body, gone()),
  getHealth: async () => ({ status: 'ok' }),
  getReadiness: services => services.readiness(),
}
