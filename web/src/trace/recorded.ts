import type { AgentRun } from '../../../src/contract/runs/runs.ts'

/** Whether the run only records a local session, so that the service does not execute it. */
export const isRecorded = ({ source_type }: AgentRun): boolean => source_type === 'LOCAL'
