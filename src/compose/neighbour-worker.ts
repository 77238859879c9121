import { pause } from '../core/pause.ts'
import { listWorkers } from '../store/leases/workers.ts'
import { isAlive } from '../system/processes.ts'
import type { Parts } from './parts.ts'

/** A worker reports every three seconds. */
const SILENCE_SECONDS = 15
const POLL_INTERVAL_MS = 50

/**
 * Returns why the worker on the data folder of this process starts no run; null when it does, or when it is
 * to work on none. Waits at most `max_ms` for its first report.
 */
export async function neighbourBlocked({ db, data, config }: Parts, max_ms: number): Promise<string | null> {
  if (config.AGENTRUN_WORKER_CONCURRENCY === 0) return null
  const until = performance.now() + max_ms
  for (;;) {
    // The row of one that crashed stays for some seconds.
    const worker = (await listWorkers(db, SILENCE_SECONDS)).find(
      ({ folder_id, pid }) => folder_id === data.id && isAlive(pid),
    )
    if (worker) return worker.blocked_reason
    if (performance.now() > until) return 'the worker has not started yet: see the log'
    await pause(POLL_INTERVAL_MS)
  }
}
