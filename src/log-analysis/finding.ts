import type { LogEntry } from '../contract/runs/logs.ts'

/** What of an entry of a trace is looked at. */
export type Entry = Pick<
  LogEntry,
  'agent_run_id' | 'seq' | 'turn' | 'message_type' | 'tool_name' | 'tool_input' | 'tool_output' | 'observation' | 'duration_ms'
>

/** `error`: it stands in the way; `warning`: it did, or it may; `info`: to be known. */
export type Severity = 'error' | 'warning' | 'info'

/** `location`: file and line as the runner printed them. */
export type FailedTest = { name: string; location: string | null }

/** Something that is told by the entries of a run. What is quoted stands in the entry that `seq` names. */
export type Finding = {
  code: string
  severity: Severity
  message: string
  cause: string | null
  mend: string | null
  agent_run_id: number
  /** Null: it is about all of them. */
  seq: number | null
  excerpt: string | null
  /** How often it was met, and in which entries besides. */
  count: number
  entries: number[]
  /** In which other runs, where several were looked at. */
  agent_run_ids: number[]
  command: string | null
  exit_code: number | null
  tests: FailedTest[]
}

export const finding = (of: Pick<Finding, 'code' | 'severity' | 'message' | 'agent_run_id' | 'seq'> & Partial<Finding>): Finding => ({
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
