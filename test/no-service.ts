import { createSealer } from '../src/core/secrets/sealing.ts'
import { createModelCatalog } from '../src/model/catalog.ts'
import { accessFinder, runAccessFinder } from '../src/service/access/authenticate.ts'
import { createLimiter } from '../src/service/access/rate-limiter.ts'
import type { Services } from '../src/service/context.ts'
import { createLogPages } from '../src/service/runs/logs/log-page-cache.ts'
import type { Database } from '../src/store/database.ts'

export const no_limits = {
  standard: null,
  agent_creation: null,
  user_creation: null,
  setup_commands: null,
  log_analysis: null,
  tool_execution: null,
  recording: null,
  token_total: null,
  session: null,
}

const unused = () => Promise.reject(new Error('not asked'))
const unusedOpen = () => {
  throw new Error('not asked')
}
const unusedPullRequestGit = {
  fetch: unused,
  tips: unused,
  findMerge: unused,
  count: unused,
  commits: unused,
  changes: unused,
  merge: unused,
  push: unused,
  mergeable: unused,
}
const unusedGit = { receive: unused, offerFetch: unused, fetch: unused, offerPush: unused, push: unused }

/** What an HTTP app needs to be built, for tests of the app that call no verb. */
export function unusedServices(db: Database): Services {
  return {
    db,
    findAccess: accessFinder(db),
    findRunAccess: runAccessFinder(db),
    limiter: createLimiter(db, no_limits),
    log_pages: createLogPages(0),
    base_url: '',
    organizationModels: async () => createModelCatalog({ default_model: null }),
    testModel: unused,
    operator_limits: [],
    lookUpHost: async () => 'unknown',
    listManifests: async () => null,
    resolveBase: async () => ({ state: 'no_mirror' }),
    blockingBranch: async () => null,
    git: unusedPullRequestGit,
    forges: {
      of: unused,
      gitCredentials: unused,
      open: unusedOpen,
      lookUp: unused,
      tryOut: unusedOpen,
      convertManifest: unused,
    },
    oauth_redirect_hosts: new Set<string>(),
    mcp_sign_in: { begin: unused, exchange: unused },
    allow_private_forges: false,
    git_server: unusedGit,
    refreshMirror() {},
    readTrees: unused,
    files: { list: unused, read: unused },
    commit_trailer: 'Agent-Run',
    sealer: createSealer(Buffer.alloc(32)),
    known_values: [],
    readRepositoryUrl: async () => ({ ok: false, reason: 'not asked' }),
    queue_seconds: 60,
    organizations_per_user: 20,
    max_organizations: 200,
    tool_call_seconds: 1,
    onRun: unusedOpen,
    onCancelled: unusedOpen,
    environment_seconds: 60,
    agents: new Map(),
    agent_versions: new Map(),
    default_egress: 'off',
    postWebhook: unused,
    allow_private_webhooks: false,
  }
}
