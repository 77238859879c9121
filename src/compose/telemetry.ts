import { hostname } from 'node:os'
import type { Config } from '../config.ts'
import { workerState } from '../service/runs/worker-state.ts'
import type { Database } from '../store/database.ts'
import { runMetrics } from '../store/runs/run-metrics.ts'
import { webhookMetrics } from '../store/webhooks/webhook-outcomes.ts'
import { createInstruments, type Instruments } from '../telemetry/instruments.ts'
import { measurer } from '../telemetry/measure.ts'
import { startMetricsServer } from '../telemetry/metrics-server.ts'
import type { Telemetry } from '../telemetry/port.ts'
import { createTelemetry } from '../telemetry/telemetry.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import { explainListenError } from './listen-error.ts'
import type { ServiceInput } from './parts.ts'

const TRACES_PATH = '/v1/traces'

type RunningTelemetry = AsyncDisposable & { telemetry: Telemetry; instruments: Instruments }

/**
 * Counts from the start on; traces where OpenTelemetry's variables name a collector, and does not load its
 * SDK otherwise. Disposing it sends the last spans.
 */
export async function startTelemetry(input: ServiceInput): Promise<RunningTelemetry> {
  const instruments = createInstruments()
  instruments.build.set({ version: input.version, role: input.role }, 1)
  const tracer = await startTracer(input)
  return {
    telemetry: createTelemetry(instruments, tracer),
    instruments,
    [Symbol.asyncDispose]: async () => tracer?.[Symbol.asyncDispose](),
  }
}

async function startTracer({
  config,
  version,
  role,
  log,
}: ServiceInput): Promise<(Tracer & AsyncDisposable) | null> {
  const url = tracesUrl(config)
  if (url === null) return null
  const { startOtel } = await import('../telemetry/otel.ts')
  const tracer = startOtel({
    url,
    headers: { ...config.OTEL_EXPORTER_OTLP_HEADERS, ...config.OTEL_EXPORTER_OTLP_TRACES_HEADERS },
    resource: {
      'service.name': 'agentrun',
      'service.version': version,
      'service.instance.id': `${hostname()}-${process.pid}`,
      'host.name': hostname(),
      'process.pid': process.pid,
      'agentrun.role': role,
      ...config.OTEL_RESOURCE_ATTRIBUTES,
      ...(config.OTEL_SERVICE_NAME && { 'service.name': config.OTEL_SERVICE_NAME }),
    },
    sampler: {
      name: config.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on',
      ratio: config.OTEL_TRACES_SAMPLER_ARG ?? 1,
    },
    delay_ms: config.OTEL_BSP_SCHEDULE_DELAY,
    on_error: error => log('warn', 'spans could not be sent; they are dropped', { error: error.message }),
  })
  log('info', 'traces are sent', { to: new URL(url).host })
  return tracer
}

function tracesUrl(config: Config): string | null {
  if (config.OTEL_SDK_DISABLED === 'true' || config.OTEL_TRACES_EXPORTER === 'none') return null
  const base = config.OTEL_EXPORTER_OTLP_ENDPOINT
  return config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? (base === undefined ? null : base + TRACES_PATH)
}

/**
 * Two processes on one machine have one configuration: the second one serves its
 * metrics on the next port.
 */
export function withNextMetricsPort(config: Config): Config {
  const { AGENTRUN_METRICS_PORT: port } = config
  return port === undefined || port === 0 ? config : { ...config, AGENTRUN_METRICS_PORT: port + 1 }
}

/** The sources of the metrics of one process, without its counters. */
type MetricSources = {
  db: Database
  instruments: Instruments
  streams: () => number
  /** Why this process takes no work; null when it does. */
  unready: () => string | null
}

/** Serves metrics and probes on the operator's port for them; null when none is set. */
export async function serveMetrics(
  { config, log }: ServiceInput,
  observed: MetricSources,
): Promise<AsyncDisposable | null> {
  const { db, instruments } = observed
  if (config.AGENTRUN_METRICS_PORT === undefined) return null
  const server = await startMetricsServer({
    host: config.AGENTRUN_METRICS_HOST,
    port: config.AGENTRUN_METRICS_PORT,
    instruments,
    measure: measurer(instruments, {
      runs: () => runMetrics(db),
      workers: () => workerState(db),
      webhooks: () => webhookMetrics(db),
      connections: () => ({
        total: db.pool.totalCount,
        idle: db.pool.idleCount,
        waiting: db.pool.waitingCount,
      }),
      streams: observed.streams,
    }),
    unready: async () => {
      const known = observed.unready()
      if (known !== null) return known
      return db.ping().then(
        () => null,
        () => 'the database does not respond',
      )
    },
  }).catch(error => {
    throw explainListenError(error, {
      host_variable: 'AGENTRUN_METRICS_HOST',
      host: config.AGENTRUN_METRICS_HOST,
      port_variable: 'AGENTRUN_METRICS_PORT',
      port: config.AGENTRUN_METRICS_PORT ?? 0,
    })
  })
  log('info', 'metrics are served', { url: server.url })
  return server
}
