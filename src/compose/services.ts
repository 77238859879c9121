import type { Config } from '../config.ts'
import { bucketLimits } from '../contract/buckets.ts'
import { defaultMode } from '../core/network/package-mirrors.ts'
import { lookupHost } from '../egress/lookup-host.ts'
import { post } from '../egress/post.ts'
import { refreshMirror } from '../git/mirrors/mirrors.ts'
import { pullRequestGit } from '../git/publish/pull-request-git.ts'
import { resolveBase } from '../git/read/base-resolver.ts'
import { listManifests } from '../git/read/list-manifests.ts'
import { blockingBranch } from '../git/read/revisions.ts'
import { readRepositoryUrl } from '../git/refs/registered-url.ts'
import { gitServer } from '../git/serve/git-server.ts'
import { accessFinder, runAccessFinder } from '../service/access/authenticate.ts'
import { createLimiter } from '../service/access/rate-limiter.ts'
import type { Services } from '../service/context.ts'
import { createLogPages } from '../service/runs/logs/log-page-cache.ts'
import { readTrees, storedFiles } from '../worker/workspace/read-files.ts'
import { readAgentVersions } from './agent-versions.ts'
import { createMcpSignIn } from './mcp-sign-in.ts'
import { organizationModels, testModel } from './models.ts'
import { operatorLimits } from './operator-limits.ts'
import { ownCredentials } from './own-credentials.ts'
import type { Parts } from './parts.ts'
import { outgoingOf } from './webhooks.ts'

const LOG_PAGES_BYTES = 64 * 1024 * 1024

/** As many tokens at full speed as `bucketLimits` allows, whatever the operator set for one. */
function userCreation({ AGENTRUN_LIMIT_USER_CREATION: own, AGENTRUN_LIMIT_AGENT_CREATION: token }: Config) {
  if (own !== undefined || token === null) return own ?? null
  return {
    requests: (token.requests * bucketLimits.user_creation.requests) / bucketLimits.agent_creation.requests,
    seconds: token.seconds,
  }
}

/**
 * Returns what the verbs work with, for the API and for tools of agents that call verbs. `signal`: ends what
 * is sent meanwhile.
 */
export function createServices(parts: Parts, baseUrl: () => string, signal: AbortSignal): Services {
  const { config, db, git, hub, author, log, sealer } = parts
  const outgoing = outgoingOf(parts)
  const models = organizationModels(parts)
  const rates = {
    standard: config.AGENTRUN_LIMIT_STANDARD,
    agent_creation: config.AGENTRUN_LIMIT_AGENT_CREATION,
    user_creation: userCreation(config),
    setup_commands: config.AGENTRUN_LIMIT_SETUP_COMMANDS,
    log_analysis: config.AGENTRUN_LIMIT_LOG_ANALYSIS,
    tool_execution: config.AGENTRUN_LIMIT_TOOL_EXECUTION,
    recording: config.AGENTRUN_LIMIT_RECORDING,
    token_total: config.AGENTRUN_LIMIT_TOKEN_TOTAL,
    session: config.AGENTRUN_LIMIT_SESSION,
  }
  const agents = config.AGENTRUN_AGENTS ?? new Map()
  return {
    db,
    findAccess: accessFinder(db),
    findRunAccess: runAccessFinder(db),
    limiter: createLimiter(db, rates),
    log_pages: createLogPages(LOG_PAGES_BYTES),
    get base_url() {
      return baseUrl()
    },
    organizationModels: models,
    agents,
    agent_versions: readAgentVersions(agents),
    testModel: async (organization_id, id) => testModel(await models(db, organization_id), id, signal),
    lookUpHost: (organization_id, url) => lookupHost(outgoing(organization_id), url),
    listManifests: (repository_id, sha, commands) =>
      listManifests(git, repository_id, sha, commands).catch(() => null),
    resolveBase: (repository, base_ref, wait_ms) => resolveBase(git, repository, base_ref, wait_ms),
    refreshMirror(repository) {
      refreshMirror(git, repository).catch(() => {})
    },
    blockingBranch: (repository_id, prefix) => blockingBranch(git, repository_id, prefix),
    git: pullRequestGit(git, author),
    forges: parts.forges,
    oauth_redirect_hosts: new Set(config.AGENTRUN_OAUTH_REDIRECT_HOSTS),
    mcp_sign_in: createMcpSignIn(parts),
    allow_private_forges: config.AGENTRUN_ALLOW_PRIVATE_GIT,
    git_server: gitServer(git),
    readTrees: (run, between) => readTrees({ db, git, log }, run, between),
    files: storedFiles({ db, git, log }),
    commit_trailer: author.trailer,
    sealer,
    known_values: ownCredentials(parts),
    readRepositoryUrl: url =>
      readRepositoryUrl(url, {
        local_paths: config.AGENTRUN_REPO_PATHS,
        allow_private: config.AGENTRUN_ALLOW_PRIVATE_GIT,
      }),
    default_egress: defaultMode(config.AGENTRUN_EGRESS_MIRRORS),
    queue_seconds: config.AGENTRUN_QUEUE_MAX_SECONDS,
    organizations_per_user: config.AGENTRUN_ORGANIZATIONS_PER_USER,
    max_organizations: config.AGENTRUN_MAX_ORGANIZATIONS,
    tool_call_seconds: config.AGENTRUN_TOOL_CALL_SECONDS,
    onRun: hub.onRun,
    onCancelled: hub.onCancelled,
    environment_seconds: config.AGENTRUN_ENVIRONMENT_MAX_AGE_SECONDS,
    postWebhook: (organization_id, to) => post(outgoing(organization_id), { ...to, signal: signal }),
    operator_limits: operatorLimits(config),
    allow_private_webhooks: config.AGENTRUN_ALLOW_PRIVATE_EGRESS,
  }
}
