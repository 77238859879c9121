import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client'

const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const slow = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600]
const ratios = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
const sizes = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

export type Instruments = ReturnType<typeof createInstruments>

/**
 * Creates the instruments for everything that one process counts, in a registry of its own. Values of labels
 * come from closed sets of ours (operations, statuses, codes, tools, providers), so the number of series is
 * bounded whatever people do.
 */
export function createInstruments() {
  const registry = new Registry()
  const create = factoryFor(registry)
  return {
    registry,
    ...requestInstruments(create),
    ...turnInstruments(create),
    ...stepInstruments(create),
    ...sandboxInstruments(create),
    ...webhookInstruments(create),
    ...databaseInstruments(create),
    ...clusterInstruments(create),
    ...processInstruments(create),
  }
}

type Factory = ReturnType<typeof factoryFor>

function factoryFor(registry: Registry) {
  const registers = [registry]
  return {
    counter: <T extends string>(name: string, help: string, labelNames: T[] = []) =>
      new Counter({ name: `agentrun_${name}`, help, labelNames, registers }),
    gauge: <T extends string>(name: string, help: string, labelNames: T[] = []) =>
      new Gauge({ name: `agentrun_${name}`, help, labelNames, registers }),
    histogram: <T extends string>(name: string, help: string, buckets: number[], labelNames: T[] = []) =>
      new Histogram({ name: `agentrun_${name}`, help, buckets, labelNames, registers }),
  }
}

/** Requests and streams of clients. */
const requestInstruments = ({ gauge, histogram }: Factory) => ({
  requests: histogram(
    'http_request_duration_seconds',
    'Requests by operation and class of status; `cut`: the client left first',
    quick,
    ['operation', 'status'],
  ),
  streams: gauge('http_streams', 'Readers of event streams'),
})

/** Claims, turns and leases of this worker. */
const turnInstruments = ({ counter, gauge, histogram }: Factory) => ({
  claims: counter('claims_total', 'Runs claimed by this worker'),
  recoveries: counter(
    'recoveries_total',
    'Claimed runs that another worker had before, by the cause of the loss',
    ['cause'],
  ),
  turns: gauge('turns_active', 'Runs that this worker works on'),
  turns_ended: counter('turns_ended_total', 'How turns ended on this worker', ['outcome', 'reason']),
  turn_time: histogram('turn_duration_seconds', 'From claim to end on this worker', slow, ['outcome']),
  leases_lost: counter('leases_lost_total', 'Runs that this worker found to be owned by another'),
  leases_expired: counter(
    'leases_expired_total',
    'Ended leases of dead or stalled workers that this worker found',
  ),
  run_starts: histogram(
    'run_start_duration_seconds',
    'First turns of runs: what a part took, or when after the create a point was reached',
    slow,
    ['part'],
  ),
})

/** Calls of models and tools. */
const stepInstruments = ({ counter, histogram }: Factory) => ({
  step_overhead: histogram(
    'step_overhead_seconds',
    'From a response to the next request to the model, excluding tools',
    quick,
  ),
  model_calls: counter('model_calls_total', 'Calls of models by outcome', ['provider', 'outcome']),
  model_time: histogram('model_call_duration_seconds', 'Calls of models', slow, ['provider']),
  model_tokens: counter('model_tokens_total', 'Tokens; `cached` are a part of `input`', ['provider', 'type']),
  cached_ratio: histogram(
    'turn_cached_ratio',
    'Prompt tokens of a turn that the provider had in its cache',
    ratios,
    ['provider'],
  ),
  model_retries: counter('model_retries_total', 'Failed calls that were repeated', ['provider', 'code']),
  tool_calls: counter('tool_calls_total', 'Tools that ended', ['tool', 'status']),
  tool_time: histogram('tool_duration_seconds', 'Tools', slow, ['tool']),
})

/** Sandboxes, and the checkpoints of their files. */
const sandboxInstruments = ({ counter, histogram }: Factory) => ({
  sandbox_starts: counter('sandbox_starts_total', 'Sandboxes that were started, or could not be', [
    'outcome',
  ]),
  sandbox_time: histogram('sandbox_start_duration_seconds', 'Starts of sandboxes', quick),
  checkpoints: counter(
    'checkpoints_total',
    'Checkpoints by outcome: `stored`, why not, or `differs` from the files',
    ['outcome'],
  ),
  checkpoint_bytes: histogram('checkpoint_bytes', 'Bytes stored for a checkpoint', sizes),
  checkpoint_time: histogram(
    'checkpoint_duration_seconds',
    'From the end of a tool until its checkpoint was stored',
    quick,
  ),
  canaries_seen: counter(
    'canaries_seen_total',
    'Canaries in outputs of sandboxes: something in them searches for credentials',
  ),
})

/** Deliveries of webhooks. */
const webhookInstruments = ({ counter, gauge, histogram }: Factory) => ({
  webhook_attempts: counter('webhook_attempts_total', 'Attempts to deliver a webhook that ended here', [
    'outcome',
  ]),
  webhook_time: histogram('webhook_attempt_duration_seconds', 'Attempts to deliver a webhook', quick),
  webhooks_disabled: counter(
    'webhooks_disabled_total',
    'Webhooks that were disabled because their receiver is gone',
  ),
  webhooks_pending: gauge('webhooks_pending', 'Deliveries on this database that wait, or are tried again'),
  webhooks_oldest: gauge('webhooks_oldest_seconds', 'For how long the oldest of them has'),
})

/** The database and its connections. */
const databaseInstruments = ({ gauge, histogram }: Factory) => ({
  database_wait: histogram('database_wait_seconds', 'Until a connection could be used', quick),
  database_connections: gauge('database_connections', 'Connections of the pool', ['state']),
  database_waiting: gauge('database_waiting', 'Statements that wait for a connection'),
  database_up: gauge('database_up', 'Whether the database responded to the last query for these metrics'),
})

/** Runs and workers of all processes on this database. */
const clusterInstruments = ({ gauge }: Factory) => ({
  runs: gauge('runs', 'Runs on this database that have not ended, by status', ['status']),
  queue_runs: gauge('queue_runs', 'Runs on this database that a worker may claim'),
  queue_oldest: gauge('queue_oldest_seconds', 'Waiting time of the oldest of them'),
  workers: gauge('workers', 'Processes on this database that work on runs', ['state']),
  worker_slots: gauge('worker_slots', 'Capacity for runs of these processes', ['state']),
})

/** The process itself. */
const processInstruments = ({ counter, gauge }: Factory) => ({
  errors_uncaught: counter(
    'uncaught_errors_total',
    'Errors that nothing caught; each is a defect, with its stack in the log',
    ['event'],
  ),
  build: gauge('build_info', 'Always 1', ['version', 'role']),
})
