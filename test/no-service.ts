import { createSealer } from '../src/core/secrets/sealing.ts'
import { createModelCatalog } from '../src/model/catalog.ts'
import { accessFinder } from '../src/service/access/authenticate.ts'
import { createLimiter } from '../src/service/access/limits.ts'
import type { Services } from '../src/service/context.ts'
import { createLogPages } from '../src/service/runs/log-page-cache.ts'
import { runHeadFinder } from '../src/service/runs/run-logs.ts'
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

const unasked = () => Promise.reject(new Error('not asked'))
const unaskedOpen = () => {
  throw new Error('not asked')
}
const unaskedForge = {
  fetch: unasked,
  tips: unasked,
  findMerge: unasked,
  count: unasked,
  commits: unasked,
  changes: unasked,
  merge: unasked,
  push: unasked,
  mergeable: unasked,
}
const unaskedGit = { offerFetch: unasked, fetch: unasked, offerPush: unasked, push: unasked }

/** What an HTTP app needs to be built, for tests of the app that call no verb. */
export function unaskedServices(db: Database): Services {
  return {
    db,
    findAccess: accessFinder(db),
    findRunHead: runHeadFinder(db),
    limiter: createLimiter(db, no_limits),
    log_pages: createLogPages(0),
    base_url: '',
    models: createModelCatalog({ default_model: null }),
    listManifests: async () => null,
    resolveBase: async () => ({ state: 'no_mirror' }),
    forge: unaskedForge,
    forges: { of: unasked, gitCredentials: unasked, open: unaskedOpen, lookUp: unasked, tryOut: unaskedOpen, convertManifest: unasked },
    allow_private_forges: false,
    git_server: unaskedGit,
    readTrees: unasked,
    commit_trailer: 'Agent-Run',
    sealer: createSealer(Buffer.alloc(32)),
    known_values: [],
    readRepositoryUrl: async () => ({ ok: false, reason: 'not asked' }),
    queue_seconds: 60,
    tool_call_seconds: 1,
    onRun: unaskedOpen,
    environment_seconds: 60,
    default_egress: 'off',
    postWebhook: unasked,
    allow_private_webhooks: false,
  }
}
