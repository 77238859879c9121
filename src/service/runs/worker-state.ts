import type { SandboxLimitMechanisms } from '../../contract/service.ts'
import type { Db } from '../../store/database.ts'
import { listWorkers } from '../../store/leases/workers.ts'

/** A worker that was not heard of for this long is not counted on. It reports every three seconds. */
const SILENCE_SECONDS = 15

/** Of all processes that work on runs: how many there are, how many of them start runs, and how many runs those may have and all have at work. */
export type WorkerState = {
  sandbox: string | null
  sandbox_limits: SandboxLimitMechanisms | null
  large_repositories: 'shared' | 'cloned' | null
  blocked: string | null
  count: number
  able: number
  slots: number
  busy: number
}

/** What a worker reports of its sandboxes. */
type Told = SandboxLimitMechanisms & { large_repositories?: 'shared' | 'cloned' }

/**
 * Whether any worker on this database takes runs: `blocked` is null when one does, otherwise one line that says why none does. `sandbox`: what
 * runs are isolated with, and by what their limits are held; null while none is started. Where workers differ it is the oldest one's.
 */
export async function workerState(db: Db): Promise<WorkerState> {
  const workers = (await listWorkers(db, SILENCE_SECONDS)).filter(worker => worker.concurrency > 0)
  const able = workers.filter(worker => worker.blocked_reason === null)
  const told = able[0]?.sandbox_limits
  const { large_repositories = null, ...held_by } = typeof told === 'string' ? (JSON.parse(told) as Told) : {}
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
