import type { SandboxLimitMechanisms } from '../../contract/service.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import type { Db } from '../../store/database.ts'
import { listWorkers } from '../../store/leases/workers.ts'

/** A worker without a report for this long is not counted. Workers report every three seconds. */
const SILENCE_SECONDS = 15

/**
 * The workers of all processes: `count`, those `able` to start runs, their `slots`, and the runs that are
 * `busy` on all of them.
 */
type WorkerState = {
  sandbox: string | null
  sandbox_limits: SandboxLimitMechanisms | null
  large_repositories: 'shared' | 'cloned' | null
  blocked: string | null
  count: number
  able: number
  slots: number
  busy: number
}

/** The report of a worker about its sandboxes. */
type SandboxReport = SandboxLimitMechanisms & { large_repositories?: 'shared' | 'cloned' }

/**
 * Returns whether any worker on this database starts runs: `blocked` is null when one does, otherwise one
 * line with the reason. `sandbox`: the driver that isolates runs, and what enforces its limits; null while no
 * worker is running. Workers may differ: the oldest one is reported.
 */
export async function workerState(db: Db): Promise<WorkerState> {
  const workers = (await listWorkers(db, SILENCE_SECONDS)).filter(worker => worker.concurrency > 0)
  const able = workers.filter(worker => worker.blocked_reason === null)
  const report = able[0]?.sandbox_limits
  const { large_repositories = null, ...held_by } =
    typeof report === 'string' ? storedJson<SandboxReport>(report) : {}
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0)
  return {
    sandbox: able[0]?.sandbox ?? null,
    sandbox_limits: 'memory' in held_by ? held_by : null,
    large_repositories,
    blocked: able.length > 0 ? null : (workers[0]?.blocked_reason ?? 'no worker is running'),
    count: workers.length,
    able: able.length,
    slots: sum(able.map(worker => worker.concurrency)),
    busy: sum(workers.map(worker => worker.active)),
  }
}
