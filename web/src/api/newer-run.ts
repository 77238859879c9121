import type { AgentRun } from '../../../src/contract/runs/runs.ts'

/** An event may overtake the response of an earlier request: the later `updated_at` wins. */
export const newerRun = (run: AgentRun, old: AgentRun | undefined) =>
  old && old.updated_at > run.updated_at ? old : run
