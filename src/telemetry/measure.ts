import type { RunStatus } from '../contract/runs/runs.ts'
import { settledWithin } from '../core/timeout.ts'
import type { Instruments } from './instruments.ts'

/** Values that are read when metrics are requested. */
type Sources = {
  /** Rejects when the database is away. */
  runs: () => Promise<{
    by_status: Partial<Record<RunStatus, number>>
    claimable: number
    oldest_seconds: number
  }>
  workers: () => Promise<{ count: number; able: number; slots: number; busy: number }>
  webhooks: () => Promise<{ pending: number; oldest_seconds: number }>
  connections: () => { total: number; idle: number; waiting: number }
  streams: () => number
}

const live: RunStatus[] = ['queued', 'starting', 'running', 'waiting', 'paused', 'cancelling']
/** The database is queried at most this often, however many requests there are. */
const MIN_QUERY_INTERVAL_MS = 5_000
const QUERY_TIMEOUT_MS = 2_000

/**
 * Returns a function that updates the gauges. If the database is away or slow, only its own metrics are
 * missing.
 */
export function measurer(instruments: Instruments, sources: Sources): () => Promise<void> {
  let queried_at = Number.NEGATIVE_INFINITY
  let querying: Promise<void> | null = null
  const query = async () => {
    const queries = Promise.all([sources.runs(), sources.workers(), sources.webhooks()])
    const [runs, workers, webhooks] = await queries.catch(() => [null, null, null])
    instruments.database_up.set(runs === null ? 0 : 1)
    for (const gauge of [instruments.runs, instruments.workers, instruments.worker_slots]) gauge.reset()
    if (runs === null || workers === null || webhooks === null) {
      // A missing value is better than an old one.
      for (const gauge of [
        instruments.queue_runs,
        instruments.queue_oldest,
        instruments.webhooks_pending,
        instruments.webhooks_oldest,
      ])
        gauge.remove()
      return
    }
    for (const status of live) instruments.runs.set({ status }, runs.by_status[status] ?? 0)
    instruments.workers.set({ state: 'able' }, workers.able)
    instruments.workers.set({ state: 'blocked' }, workers.count - workers.able)
    instruments.worker_slots.set({ state: 'busy' }, workers.busy)
    instruments.worker_slots.set({ state: 'free' }, Math.max(0, workers.slots - workers.busy))
    instruments.queue_runs.set(runs.claimable)
    instruments.queue_oldest.set(runs.oldest_seconds)
    instruments.webhooks_pending.set(webhooks.pending)
    instruments.webhooks_oldest.set(webhooks.oldest_seconds)
  }
  return async () => {
    const { total, idle, waiting } = sources.connections()
    instruments.database_connections.set({ state: 'idle' }, idle)
    instruments.database_connections.set({ state: 'used' }, total - idle)
    instruments.database_waiting.set(waiting)
    instruments.streams.set(sources.streams())
    if (querying === null && performance.now() - queried_at >= MIN_QUERY_INTERVAL_MS) {
      queried_at = performance.now()
      querying = query().finally(() => {
        querying = null
      })
    }
    if (querying === null) return
    await settledWithin(querying, QUERY_TIMEOUT_MS)
  }
}
