import type { HealthCheck } from '../contract/organizations/organization-limits.ts'
import { checkCluster, type ServiceProcess } from '../core/cluster/cluster-checks.ts'
import { broken, ok, warning } from '../core/health-checks.ts'
import type { Db } from '../store/database.ts'
import { databaseState } from '../store/database-state.ts'
import { listProcesses } from '../store/leases/processes.ts'
import { listMigrations } from '../store/migrate.ts'
import { runMetrics } from '../store/runs/run-metrics.ts'

const MIN_POSTGRES = 150_000
/** A run that waits longer than this has no free slot, or no worker. */
const MAX_QUEUE_SECONDS = 60

/** Checks the database and its schema. Rejects when the database does not respond. */
export async function checkDatabase(db: Db): Promise<HealthCheck[]> {
  const { version, version_number, applied, unfinished_indexes } = await databaseState(db)
  const known = (await listMigrations()).map(({ name }) => name)
  const missing = known.filter(name => !applied.includes(name))
  const newer = applied.filter(name => !known.includes(name))
  return [
    version_number >= MIN_POSTGRES
      ? ok('database', `PostgreSQL ${version}`)
      : broken('database', `PostgreSQL ${version}`, 'upgrade it to version 15 or newer'),
    missing.length === 0
      ? ok(
          'migrations',
          `${applied.at(-1) ?? 'none'}${newer.length === 0 ? '' : `, of a newer version than this command`}`,
        )
      : broken(
          'migrations',
          `${missing.join(', ')} not applied`,
          'run "./agentrun migrate", or start a process of this version',
        ),
    ...(unfinished_indexes.length === 0
      ? []
      : [
          warning(
            'indexes',
            `${unfinished_indexes.join(', ')} not complete`,
            'a migration builds it now, or was interrupted: "./agentrun migrate" completes it',
          ),
        ]),
  ]
}

/**
 * Checks every process and whether they fit together; `own_key_id`: of the key of this configuration, null
 * when it has none.
 */
export async function checkProcesses(db: Db, own_key_id: string | null): Promise<HealthCheck[]> {
  const processes = await listProcesses(db)
  const other_keys = processes.filter(({ key_id }) => own_key_id !== null && key_id !== own_key_id)
  return [
    ...processes.map(item => ok('process', described(item))),
    ...checkCluster(processes, nameOf),
    ...(other_keys.length === 0
      ? []
      : [
          broken(
            'keys',
            `${other_keys.map(nameOf).join(', ')}: another key than the one of this configuration`,
            'give all processes the same AGENTRUN_SECRET_KEY',
          ),
        ]),
  ]
}

/** Checks how long runs wait for a worker. */
export async function checkQueue(db: Db): Promise<HealthCheck[]> {
  const { claimable, oldest_seconds } = await runMetrics(db)
  const detail = `${claimable} ${claimable === 1 ? 'run waits' : 'runs wait'} for a worker${claimable === 0 ? '' : `, the oldest for ${Math.round(oldest_seconds)} s`}`
  if (oldest_seconds <= MAX_QUEUE_SECONDS) return [ok('queue', detail)]
  return [
    warning(
      'queue',
      detail,
      'add workers, or raise AGENTRUN_WORKER_CONCURRENCY; see docs/operations/sizing.md',
    ),
  ]
}

const nameOf = ({ role, host, pid }: ServiceProcess) => `${role} on ${host} (pid ${pid})`

const described = (item: ServiceProcess) =>
  `${nameOf(item)}, version ${item.version}, reported ${item.seen_seconds} s ago, clock ${item.clock_ahead_ms === 0 ? 'as the database' : `${item.clock_ahead_ms} ms ahead`}`
