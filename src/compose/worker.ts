import { availableParallelism, hostname, totalmem } from 'node:os'
import { join } from 'node:path'
import type { ChildRun } from '../agent/related-runs.ts'
import type { AgentRun } from '../contract/runs/runs.ts'
import { prepareSocketFolder } from '../egress/socket.ts'
import type { Services } from '../service/context.ts'
import { listChildrenOf, startChildRun } from '../service/runs/child-runs.ts'
import { Templates } from '../worker/base/templates.ts'
import { LeaseKeeper } from '../worker/claim/lease-keeper.ts'
import { Starts } from '../worker/claim/starts.ts'
import { createInstalledPrograms } from '../worker/sandbox/installed-programs.ts'
import { observeDriver } from '../worker/sandbox/observe-driver.ts'
import { Environments } from '../worker/setup/environments.ts'
import type { ChildRuns } from '../worker/turns/child-runs.ts'
import { Worker } from '../worker/worker.ts'
import { wrongAgentFolders } from './agent-versions.ts'
import { createSignInRenewal } from './mcp-sign-in.ts'
import { organizationModels } from './models.ts'
import { ownCredentials } from './own-credentials.ts'
import type { Parts } from './parts.ts'
import { createSandboxDriver } from './sandbox-driver.ts'
import { createServices } from './services.ts'

/** A start waits for the database and for processes, so one alone does not keep a processor busy. */
const STARTS_PER_CPU = 2

/** A run must not be able to take what the service and its database need. */
const defaultMemoryBytes = () => Math.min(4 * 1024 ** 3, Math.floor(totalmem() / 2))

/**
 * Returns the worker of this process, not started yet. `baseUrl` is called when a link is written, because
 * the API of the same process learns its address late.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: lists the parts of a worker and what each of them gets
export function createWorker(parts: Parts, baseUrl: () => string): Worker {
  const { owner, config, data, users, db, hub, git, author, log, version, telemetry } = parts
  const memory_bytes = config.AGENTRUN_SANDBOX_MEMORY_BYTES ?? defaultMemoryBytes()
  const driver = observeDriver(telemetry, (parts.createDriver ?? createSandboxDriver)(parts))
  const sandbox_limits = {
    max_memory_bytes: memory_bytes,
    cpus: config.AGENTRUN_SANDBOX_CPUS ?? availableParallelism(),
    max_processes: config.AGENTRUN_SANDBOX_PROCESSES,
    max_disk_bytes: config.AGENTRUN_SANDBOX_DISK_BYTES,
    max_files: config.AGENTRUN_SANDBOX_FILES,
    max_file_bytes: 4 * 1024 ** 3,
    // Files in memory count as memory: full folders must leave room to empty them.
    max_tmp_bytes: Math.min(512 * 1024 ** 2, Math.floor(memory_bytes / 4)),
    max_process_bytes: config.AGENTRUN_SANDBOX_ADDRESS_SPACE_BYTES ?? null,
  }
  const agents = config.AGENTRUN_AGENTS ?? new Map()
  for (const mistake of wrongAgentFolders(agents)) log('warn', mistake)
  const clone_ms = config.AGENTRUN_CLONE_SECONDS * 1000
  const templates = new Templates({
    folders: { root: data.templates, workspaces: data.workspaces, user: users.sandbox },
    max_bytes: config.AGENTRUN_TEMPLATE_BYTES,
    driver,
    git,
    sandbox_limits,
    clone_ms,
    log,
  })
  const environments = new Environments({
    db,
    git,
    templates,
    log,
    folders: templates.folders,
    folder_id: data.id,
    max_bytes: config.AGENTRUN_ENVIRONMENT_BYTES,
    max_age_seconds: config.AGENTRUN_ENVIRONMENT_MAX_AGE_SECONDS,
  })
  const deps = {
    owner,
    db,
    hub,
    children: childRuns(createServices(parts, baseUrl, new AbortController().signal)),
    driver,
    templates,
    environments,
    programs: createInstalledPrograms(log),
    sandbox_limits,
    git,
    organizationModels: organizationModels(parts),
    leases: new LeaseKeeper({ connection_string: parts.database_url, owner }, log),
    starts: new Starts(STARTS_PER_CPU * availableParallelism()),
    agents,
    renewSignIn: createSignInRenewal(parts),
    users,
    folders: { workspaces: data.workspaces, bundles: data.bundles },
    host: hostname(),
    folder_id: data.id,
    version,
    get base_url() {
      return baseUrl()
    },
    ceilings: {
      max_steps: config.AGENTRUN_RUN_MAX_STEPS,
      max_tokens: config.AGENTRUN_RUN_MAX_TOKENS,
      max_active_ms: config.AGENTRUN_RUN_MAX_ACTIVE_SECONDS * 1000,
    },
    turn_wall_seconds: config.AGENTRUN_RUN_MAX_WALL_SECONDS,
    queue_seconds: config.AGENTRUN_QUEUE_MAX_SECONDS,
    answer_seconds: config.AGENTRUN_ANSWER_MAX_SECONDS,
    ci_first_seconds: config.AGENTRUN_CI_FIRST_SECONDS,
    ci_poll_seconds: config.AGENTRUN_CI_POLL_SECONDS,
    ci_wait_seconds: config.AGENTRUN_CI_WAIT_SECONDS,
    approve_ci_changes: config.AGENTRUN_APPROVE_CI_CHANGES,
    review: {
      enabled: config.AGENTRUN_MODEL_EVALUATIONS,
      model: config.AGENTRUN_REVIEW_MODEL ?? null,
      effort: config.AGENTRUN_REVIEW_EFFORT,
    },
    max_losses: config.AGENTRUN_RUN_MAX_RECOVERIES,
    retention_days: config.AGENTRUN_RETENTION_DAYS ?? null,
    model_timeouts: {
      first_byte_ms: config.AGENTRUN_MODEL_FIRST_BYTE_SECONDS * 1000,
      idle_ms: config.AGENTRUN_MODEL_IDLE_SECONDS * 1000,
      total_ms: config.AGENTRUN_MODEL_TOTAL_SECONDS * 1000,
    },
    compact_tokens: config.AGENTRUN_COMPACT_TOKENS,
    disk_reserve_bytes: config.AGENTRUN_DISK_RESERVE_BYTES,
    git_limits: {
      fetch_ms: config.AGENTRUN_FETCH_SECONDS * 1000,
      clone_ms,
      push_ms: config.AGENTRUN_PUSH_SECONDS * 1000,
    },
    setup_ms: config.AGENTRUN_SETUP_MAX_SECONDS * 1000,
    tool_seconds: config.AGENTRUN_TOOL_MAX_SECONDS,
    checkpoints: {
      max_file_bytes: config.AGENTRUN_CHECKPOINT_FILE_MAX_BYTES,
      max_pack_bytes: config.AGENTRUN_CHECKPOINT_PACK_MAX_BYTES,
      max_run_bytes: config.AGENTRUN_CHECKPOINT_RUN_MAX_BYTES,
    },
    egress: {
      folder: prepareSocketFolder(join(data.root, 'sandbox', 'sockets')),
      upstream: config.AGENTRUN_EGRESS_PROXY ?? null,
      mirrors: config.AGENTRUN_EGRESS_MIRRORS,
      allow_private: config.AGENTRUN_ALLOW_PRIVATE_EGRESS,
      max_bytes: config.AGENTRUN_EGRESS_MAX_BYTES,
    },
    push_retry_ms: config.AGENTRUN_PUSH_RETRY_SECONDS * 1000,
    shutdown_grace_ms: config.AGENTRUN_SHUTDOWN_GRACE_SECONDS * 1000,
    author,
    sealer: parts.sealer,
    forges: parts.forges,
    known_values: ownCredentials(parts),
    log,
    telemetry,
  }
  return new Worker(deps, config.AGENTRUN_WORKER_CONCURRENCY)
}

/** Returns the verbs of the API that start and list child runs, with results in the terms of agents. */
const childRuns = (services: Services): ChildRuns => ({
  start: async (parent, call_id, input) => childRunOf(await startChildRun(services, parent, call_id, input)),
  list: async parent => (await listChildrenOf(services, parent)).map(childRunOf),
})

const childRunOf = (run: AgentRun): ChildRun => ({
  agent_run_id: run.id,
  title: run.title,
  status: run.status,
  status_reason: run.status_reason,
  waiting_on: run.waiting_on,
  repository_id: run.repo_id,
  branch: run.branch,
  result: run.result,
  error: run.error?.message ?? null,
  pull_requests: run.github_pull_requests.map(({ number, title, state, url }) => ({
    number,
    title,
    state,
    url,
  })),
  cost_usd: run.usage.cost_usd,
  max_cost_usd: run.budget.max_cost_usd,
  total_logs: run.total_logs,
  web_url: run.web_url,
})
