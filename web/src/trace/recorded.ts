import type { AgentRun } from '../../../src/contract/runs/runs.ts'

/** Whether the run only records a session outside the service, so that nothing here works on it. */
export const isRecorded = ({ source_type }: AgentRun): boolean => source_type === 'LOCAL'
