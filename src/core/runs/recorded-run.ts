import type { SourceType } from '../../contract/runs/runs.ts'

/** `owner` of a run that no worker works on because its session reports from outside; the sweep of lost workers leaves it alone. */
export const RECORDED_OWNER = 'recorded'

/** Without a report for this long, a recorded session counts as abandoned. */
export const MAX_SILENCE_SECONDS = 3_600

/** Whether the run records a session that runs outside this service (decisions.md#recorded-sessions-are-runs). Nothing here can work on it. */
export const isRecorded = ({ source_type }: { source_type: SourceType }): boolean => source_type === 'LOCAL'
