import { hostname } from 'node:os'
import { join } from 'node:path'
import { createBubblewrapDriver } from '../sandbox/bubblewrap.ts'
import { observeDriver } from '../worker/observe-driver.ts'
import { Worker } from '../worker/worker.ts'
import type { Parts } from './parts.ts'

/** The worker of this process, not started yet. `baseUrl` is asked when a link is written: the API of the same process has its address late. */
export function createWorker(parts: Parts, baseUrl: () => string): Worker {
  const { config, data, users, db, hub, git, models, author, log, version, telemetry } = parts
  const driver = observeDriver(
    telemetry,
    createBubblewrapDriver({
      user: users.sandbox,
      path: parts.path,
      node_path: parts.node_path,
      runtime_dir: join(data.root, 'sandbox'),
      start_timeout_ms: config.AGENTRUN_SANDBOX_START_SECONDS * 1000,
    }),
  )
  const deps = {
    db,
    hub,
    driver,
    git,
    models,
    users,
    folders: { workspaces: data.workspaces, bundles: data.bundles },
    host: hostname(),
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
    max_losses: config.AGENTRUN_RUN_MAX_RECOVERIES,
    retention_days: config.AGENTRUN_RETENTION_DAYS ?? null,
    model_timeouts: {
      first_byte_ms: config.AGENTRUN_MODEL_FIRST_BYTE_SECONDS * 1000,
      idle_ms: config.AGENTRUN_MODEL_IDLE_SECONDS * 1000,
      total_ms: config.AGENTRUN_MODEL_TOTAL_SECONDS * 1000,
    },
    disk_reserve_bytes: config.AGENTRUN_DISK_RESERVE_BYTES,
    git_limits: {
      fetch_ms: config.AGENTRUN_FETCH_SECONDS * 1000,
      clone_ms: config.AGENTRUN_CLONE_SECONDS * 1000,
      push_ms: config.AGENTRUN_PUSH_SECONDS * 1000,
    },
    tool_seconds: config.AGENTRUN_TOOL_MAX_SECONDS,
    checkpoints: {
      max_file_bytes: config.AGENTRUN_CHECKPOINT_FILE_MAX_BYTES,
      max_pack_bytes: config.AGENTRUN_CHECKPOINT_PACK_MAX_BYTES,
      max_run_bytes: config.AGENTRUN_CHECKPOINT_RUN_MAX_BYTES,
    },
    push_retry_ms: config.AGENTRUN_PUSH_RETRY_SECONDS * 1000,
    shutdown_grace_ms: config.AGENTRUN_SHUTDOWN_GRACE_SECONDS * 1000,
    author,
    log,
    telemetry,
  }
  return new Worker(deps, config.AGENTRUN_WORKER_CONCURRENCY)
}
