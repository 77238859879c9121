import type { RunStatus } from '../contract/runs/runs.ts'
import type { ToolInput } from '../contract/runs/tools.ts'

/** A child run as its parent's agent sees it. */
export type ChildRun = {
  agent_run_id: number
  title: string
  status: RunStatus
  /** Why it waits, or why it ended. */
  status_reason: string | null
  waiting_on: string | null
  repository_id: number | null
  branch: string | null
  result: string
  error: string | null
  pull_requests: { number: number; title: string | null; state: string; url: string | null }[]
  cost_usd: string | null
  max_cost_usd: string | null
  total_logs: number
  web_url: string
}

/** The runs that the agent of this run starts. Errors have messages for the agent. */
export type RelatedRuns = {
  /** Starts one run per `call_id`. */
  start(call_id: string, input: ToolInput<'start_run'>): Promise<ChildRun>
  /**
   * Returns all runs, oldest first, once none of `awaited` (null: all) continues by itself, after `seconds`,
   * or when `signal` aborts.
   */
  awaitRuns(awaited: number | null, seconds: number, signal: AbortSignal): Promise<ChildRun[]>
}
