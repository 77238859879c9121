import type { RunStatus } from '../contract/runs/runs.ts'
import type { RunRow } from '../store/runs/runs.ts'

const without_worker: Partial<Record<RunStatus, { code: string; message: string }>> = {
  queued: { code: 'queue_timeout', message: 'No worker took the run before its deadline.' },
  waiting: { code: 'answer_timeout', message: 'Nobody answered before the deadline.' },
}

/**
 * Returns the error of a run that reached its deadline in that status. The heartbeat of its worker ends it,
 * or the sweep when it has none (specification.md#run-status).
 */
export const deadlineError = (status: RunStatus): { code: string; message: string } =>
  without_worker[status] ?? { code: 'deadline_exceeded', message: 'The run reached its deadline.' }

/**
 * Returns the milliseconds from the claim of a run to its deadline, by the clock of the database alone; null:
 * it has none.
 */
export const deadlineAfterClaim = ({
  deadline_at,
  updated_at,
}: Pick<RunRow, 'deadline_at' | 'updated_at'>): number | null =>
  deadline_at === null ? null : deadline_at.getTime() - updated_at.getTime()
