import type { RunStatus } from '../contract/runs/runs.ts'
import type { ToolInput } from '../contract/runs/tools.ts'

/** A child run as its parent's agent is told of it. */
export type ChildRun = {
  agent_run_id: number
  title: string
  status: RunStatus
  /** Why it waits, or why it ended as it did. */
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

/** The runs that the agent of this run starts. What cannot be done throws, in words for the agent. */
export type RelatedRuns = {
  /** Once for each `call_id`. */
  start(call_id: string, input: ToolInput<'start_run'>): Promise<ChildRun>
  /** All, oldest first, as soon as none of those in `awaited` (null: all) gets on by itself any more, after `seconds`, or when `signal` is aborted. */
  look(awaited: number | null, seconds: number, signal: AbortSignal): Promise<ChildRun[]>
}
