import type { LogEntry } from '../contract/runs/logs.ts'

/** The fields of a trace entry that are analyzed. */
export type Entry = Pick<
  LogEntry,
  | 'agent_run_id'
  | 'seq'
  | 'turn'
  | 'message_type'
  | 'tool_name'
  | 'tool_input'
  | 'tool_output'
  | 'observation'
  | 'duration_ms'
>

/** `error`: it blocks the run; `warning`: it did, or it may; `info`: for information. */
export type Severity = 'error' | 'warning' | 'info'

/** `location`: file and line as the runner printed them. */
export type FailedTest = { name: string; location: string | null }

/** A finding in the entries of a run. Quotations come from the entry that `seq` names. */
export type Finding = {
  code: string
  severity: Severity
  message: string
  cause: string | null
  mend: string | null
  agent_run_id: number
  /** Null: it concerns all of them. */
  seq: number | null
  excerpt: string | null
  /** The number of occurrences, and the other entries. */
  count: number
  entries: number[]
  /** The other runs, when several are analyzed. */
  agent_run_ids: number[]
  command: string | null
  exit_code: number | null
  tests: FailedTest[]
}

/** Returns a finding with defaults for the fields that its rule does not set. */
export const finding = (
  of: Pick<Finding, 'code' | 'severity' | 'message' | 'agent_run_id' | 'seq'> & Partial<Finding>,
): Finding => ({
  cause: null,
  mend: null,
  excerpt: null,
  count: 1,
  entries: [],
  agent_run_ids: [],
  command: null,
  exit_code: null,
  tests: [],
  ...of,
})
