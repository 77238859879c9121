import { type Config, ConfigError } from '../config.ts'
import type { Log } from '../core/log.ts'
import { startEmbeddedPostgres } from '../postgres/embedded.ts'
import { findRunningPostgres, hasCluster } from '../postgres/running.ts'
import type { DataFolder } from '../system/data-folder.ts'
import { awaitWorkerEnd } from '../system/instance-lock.ts'
import type { SystemUsers } from '../system/users.ts'
import type { Role } from './parts.ts'

type Start = {
  role: Role | 'migrate'
  config: Config
  data: DataFolder
  users: SystemUsers
  log: Log
  /** Resolves when this process must stop. */
  stopped: Promise<unknown>
}

const FIND_MS = 30_000
/** The time that a worker may use the database beyond its grace. */
const WORKER_END_MS = 5_000

/**
 * Returns the connection string of the database of the data folder. A process that works uses the one that
 * the process that serves has started. That one ends it last, and leaves it to its successor when it fails
 * while a worker uses it. `stack` ends it.
 */
export async function embeddedDatabase(
  stack: AsyncDisposableStack,
  { role, config, data, users, log, stopped }: Start,
): Promise<string> {
  if (role === 'work') {
    const url = hasCluster(data.postgres) ? await findRunningPostgres(data.postgres, FIND_MS) : null
    if (url !== null) return url
    throw new ConfigError('work needs DATABASE_URL, or a process that serves on the same data folder')
  }
  const owners = { user: users.database, former: users.service }
  const postgres = await startEmbeddedPostgres({
    data_dir: data.postgres,
    ...owners,
    log: line => log('info', line),
  })
  let is_requested = false
  void stopped.then(() => {
    is_requested = true
  })
  stack.defer(async () => {
    const wait_ms = config.AGENTRUN_SHUTDOWN_GRACE_SECONDS * 1_000 + WORKER_END_MS
    const has_no_worker = role !== 'serve' || (await awaitWorkerEnd(data.root, is_requested ? wait_ms : 0))
    if (has_no_worker || is_requested) await postgres.stop()
  })
  return postgres.url
}
