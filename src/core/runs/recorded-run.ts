import type { SourceType } from '../../contract/runs/runs.ts'

/** The `owner` of a run whose session reports from outside; the sweep of lost workers skips it. */
export const RECORDED_OWNER = 'recorded'

/** A recorded session without a report for this long counts as abandoned. */
export const MAX_SILENCE_SECONDS = 3_600

/**
 * Returns whether the run records a session outside this service (decisions.md#recorded-sessions-are-runs),
 * which no worker can execute.
 */
export const isRecorded = ({ source_type }: { source_type: SourceType }): boolean => source_type === 'LOCAL'
