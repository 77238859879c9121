import type { RunStatus } from '../contract/runs/runs.ts'
import type { Instruments } from './instruments.ts'

/** What is asked for when somebody wants to know. */
export type Sources = {
  /** Rejects when the database is away. */
  runs: () => Promise<{ by_status: Partial<Record<RunStatus, number>>; claimable: number; oldest_seconds: number }>
  workers: () => Promise<{ count: number; able: number; slots: number; busy: number }>
  webhooks: () => Promise<{ pending: number; oldest_seconds: number }>
  connections: () => { total: number; idle: number; waiting: number }
  streams: () => number
}

const live: RunStatus[] = ['queued', 'starting', 'running', 'waiting', 'paused', 'cancelling']
/** Figures of the database are not asked for more often, however many ask us. */
const FRESH_MS = 5_000
const PATIENCE_MS = 2_000

/** Brings the gauges up to date. A database that is away, or slow, costs its own figures and nothing else. */
export function measurer(instruments: Instruments, sources: Sources): () => Promise<void> {
  let asked_at = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null
  const ask = async () => {
    const asked = Promise.all([sources.runs(), sources.workers(), sources.webhooks()])
    const [figures, workers, webhooks] = await asked.catch(() => [null, null, null])
    instruments.database_up.set(figures === null ? 0 : 1)
    for (const gauge of [instruments.runs, instruments.workers, instruments.worker_slots]) gauge.reset()
    if (figures === null || workers === null || webhooks === null) {
      // No figure is told rather than an old one.
      for (const gauge of [instruments.queue_runs, instruments.queue_oldest, instruments.webhooks_pending, instruments.webhooks_oldest])
        gauge.remove()
      return
    }
    for (const status of live) instruments.runs.set({ status }, figures.by_status[status] ?? 0)
    instruments.workers.set({ state: 'able' }, workers.able)
    instruments.workers.set({ state: 'blocked' }, workers.count - workers.able)
    instruments.worker_slots.set({ state: 'busy' }, workers.busy)
    instruments.worker_slots.set({ state: 'free' }, Math.max(0, workers.slots - workers.busy))
    instruments.queue_runs.set(figures.claimable)
    instruments.queue_oldest.set(figures.oldest_seconds)
    instruments.webhooks_pending.set(webhooks.pending)
    instruments.webhooks_oldest.set(webhooks.oldest_seconds)
  }
  return async () => {
    const { total, idle, waiting } = sources.connections()
    instruments.database_connections.set({ state: 'idle' }, idle)
    instruments.database_connections.set({ state: 'used' }, total - idle)
    instruments.database_waiting.set(waiting)
    instruments.streams.set(sources.streams())
    if (asking === null && performance.now() - asked_at >= FRESH_MS) {
      asked_at = performance.now()
      asking = ask().finally(() => {
        asking = null
      })
    }
    if (asking === null) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, PATIENCE_MS)
    await Promise.race([asking, late])
    clearTimeout(timer)
  }
}
