import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { settledWithin } from '../core/timeout.ts'
import { readTraceparent, writeTraceparent } from './traceparent.ts'
import type { Attributes, Tracer } from './tracer.ts'

export type SamplerName =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio'

export type OtelOptions = {
  /** Where spans are posted to, the whole address. */
  url: string
  headers: Record<string, string>
  /** Attributes of the resource: `service.name` and the like. */
  resource: Attributes
  sampler: { name: SamplerName; ratio: number }
  /** How long a batch is gathered. */
  delay_ms: number
  /** Called for spans that could not be sent, at most once a minute. */
  on_error: (error: Error) => void
}

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT }
const SHUTDOWN_TIMEOUT_MS = 2_000
const QUIET_MS = 60_000

/**
 * Spans over OTLP (HTTP, protobuf), in batches and in the background: nothing waits for the collector, a full
 * queue drops spans. What is not given here (time-out, compression, certificates) the exporter reads from
 * OpenTelemetry's own variables. Disposing it sends what is left, for two seconds at most.
 */
export function startOtel(options: OtelOptions): Tracer & AsyncDisposable {
  const exporter = new OTLPTraceExporter({ url: options.url, headers: options.headers })
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(options.resource)),
    sampler: samplerOf(options.sampler),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(exporter, options.on_error),
        scheduledDelayMillis: options.delay_ms,
      }),
    ],
  })
  const tracer = provider.getTracer('agentrun')
  return {
    begin({ name, kind, parent, attributes, began_at }) {
      const given = readTraceparent(parent ?? undefined)
      const context = given
        ? trace.setSpanContext(ROOT_CONTEXT, {
            traceId: given.trace_id,
            spanId: given.span_id,
            traceFlags: given.flags,
            isRemote: true,
          })
        : ROOT_CONTEXT
      const span = tracer.startSpan(
        name,
        { kind: kinds[kind], attributes, ...(began_at !== undefined && { startTime: began_at }) },
        context,
      )
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceparent: writeTraceparent({ trace_id: traceId, span_id: spanId, flags: traceFlags }),
        rename: text => void span.updateName(text),
        set: more => void span.setAttributes(more),
        end(error, ended_at) {
          if (error !== null) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR })
          span.end(ended_at)
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await settledWithin(
        provider.shutdown().catch(() => {}),
        SHUTDOWN_TIMEOUT_MS,
      )
    },
  }
}

function samplerOf({ name, ratio }: OtelOptions['sampler']): Sampler {
  const root = name.endsWith('off')
    ? new AlwaysOffSampler()
    : name.endsWith('on')
      ? new AlwaysOnSampler()
      : new TraceIdRatioBasedSampler(ratio)
  return name.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root
}

function reporting(exporter: OTLPTraceExporter, on_error: (error: Error) => void): SpanExporter {
  let quiet_until = 0
  return {
    export(spans, done) {
      exporter.export(spans, result => {
        if (result.code !== 0 && performance.now() >= quiet_until) {
          quiet_until = performance.now() + QUIET_MS
          on_error(result.error ?? new Error('spans could not be sent'))
        }
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}
