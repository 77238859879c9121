/**
 * Measured, with its source: docs/operations/sizing.md. A test compares the results with the tables there.
 */
const measured = {
  /** Processor time of the database. */
  step_ms: 1,
  heartbeat_ms: 0.35,
  /** Write-ahead log; a step has 3.7 without and 6.4 with changed files. */
  step_wal_kb: 5.5,
  heartbeat_wal_kb: 0.3,
  /** One entry and four journal records with short outputs, with indexes. */
  step_disk_kb: 3.1,
  step_commits: 2,
  runs_per_worker: 64,
  connections_per_process: 22,
  /** What the embedded server accepts. */
  embedded_connections: 200,
  /** Runs at the same time that one database was measured for. */
  runs_per_database: 10_000,
  /** Size of the trace from which on it is partitioned. */
  partition_gb: 100,
  /** Assumed for the sandboxes. */
  sandbox_gb: 1,
  sandbox_cores: 0.5,
}
/**
 * One creates some hundred runs per second and serves thousands of streams: a second one is for replacement.
 */
const API_PROCESSES = 2
const DAY_SECONDS = 86_400

export type SizingInput = {
  runs_per_day: number
  concurrent: number
  run_minutes: number
  step_seconds: number
  retention_days: number | null
}

/** Returns what runs at the same time need of the database, and of the machines of the workers. */
export function sizeOf({ runs_per_day, concurrent, run_minutes, step_seconds, retention_days }: SizingInput) {
  const steps_per_second = concurrent / step_seconds
  const workers = Math.ceil(concurrent / measured.runs_per_worker)
  const trace_gb_per_day = (runs_per_day * run_minutes * 60 * measured.step_disk_kb) / step_seconds / 1e6
  const connections = measured.connections_per_process * (workers + API_PROCESSES)
  return {
    steps_per_second,
    commits_per_second: concurrent + measured.step_commits * steps_per_second,
    database_cores: (steps_per_second * measured.step_ms + concurrent * measured.heartbeat_ms) / 1_000,
    wal_mb_per_second:
      (steps_per_second * measured.step_wal_kb + concurrent * measured.heartbeat_wal_kb) / 1_000,
    trace_gb_per_day,
    trace_gb: retention_days === null ? null : trace_gb_per_day * retention_days,
    workers,
    api_processes: API_PROCESSES,
    connections,
    sandbox_memory_gb: concurrent * measured.sandbox_gb,
    sandbox_cores: concurrent * measured.sandbox_cores,
    databases: Math.ceil(concurrent / measured.runs_per_database),
    embedded: connections <= measured.embedded_connections,
    average_concurrent: (runs_per_day * run_minutes * 60) / DAY_SECONDS,
  }
}

/**
 * Returns the size in words: one line for each resource, and warnings where the input contradicts itself or
 * exceeds what was measured.
 */
export function describeSize(input: SizingInput): string[] {
  const size = sizeOf(input)
  const partitioned = (size.trace_gb ?? 0) > measured.partition_gb
  return [
    `database: ${size.embedded ? 'the embedded one, or one of your own' : 'one of your own (DATABASE_URL)'}, ${number(size.database_cores)} cores busy`,
    `database: ${number(size.commits_per_second)} commits and ${number(size.wal_mb_per_second)} MB of write-ahead log per second`,
    `database: max_connections ${size.connections} and a reserve`,
    `disk: ${number(size.trace_gb_per_day)} GB per day${size.trace_gb === null ? '; without AGENTRUN_RETENTION_DAYS it only grows' : `, ${number(size.trace_gb)} GB with AGENTRUN_RETENTION_DAYS=${input.retention_days}`}`,
    ...(partitioned ? [`disk: partition the trace from ${measured.partition_gb} GB on`] : []),
    `processes: ${size.workers} worker${size.workers === 1 ? '' : 's'} with AGENTRUN_WORKER_CONCURRENCY=${Math.ceil(input.concurrent / size.workers)}, ${size.api_processes} that serve`,
    `sandboxes: ${number(size.sandbox_memory_gb)} GB of memory and ${number(size.sandbox_cores)} cores, with 1 GB and half a core each`,
    ...(size.databases > 1
      ? [`warning: more than one database was measured for: ${size.databases} clusters`]
      : []),
    ...(size.average_concurrent > input.concurrent
      ? [
          `warning: ${input.runs_per_day} runs per day of ${input.run_minutes} minutes are ${number(size.average_concurrent)} at the same time on average: runs will wait`,
        ]
      : []),
  ]
}

/** Two significant digits, rounded up. */
function number(value: number): string {
  if (value === 0) return '0'
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1)
  const rounded = Math.ceil(Number((value / unit).toFixed(6))) * unit
  return rounded >= 10 ? Math.round(rounded).toLocaleString('en-US') : String(Number(rounded.toPrecision(2)))
}
