import type { Instruments } from './instruments.ts'
import type { Telemetry } from './port.ts'
import { readTraceparent, writeTraceparent } from './traceparent.ts'
import type { Tracer } from './tracer.ts'
import { turnTelemetry } from './turn-telemetry.ts'

/**
 * Counts in `instruments` and, with a tracer, makes spans by OpenTelemetry's semantic conventions of HTTP and
 * generative AI.
 */
export function createTelemetry(instruments: Instruments, tracer: Tracer | null): Telemetry {
  const seconds = (ms: number) => ms / 1_000
  // Prometheus sees no increase in a series that begins with 1: the alert on the first such error needs a 0
  // before it.
  for (const event of ['uncaughtException', 'unhandledRejection'])
    instruments.errors_uncaught.inc({ event }, 0)
  return {
    requestBegan(traceparent) {
      const began = performance.now()
      const given = readTraceparent(traceparent)
      const parent = given && writeTraceparent(given)
      const span = tracer?.begin({ name: 'HTTP', kind: 'server', parent, attributes: {} })
      return {
        traceparent: span?.traceparent ?? parent,
        ended({ operation, method, route, path, status, request_id }) {
          const status_class = status === null ? 'cut' : `${Math.floor(status / 100)}xx`
          instruments.requests.observe(
            { operation, status: status_class },
            seconds(performance.now() - began),
          )
          if (!span) return
          span.rename(route === null ? method : `${method} ${route}`)
          span.set({
            'http.request.method': method,
            'url.scheme': 'http',
            ...(route !== null && { 'http.route': route, 'url.path': path }),
            ...(status !== null && { 'http.response.status_code': status }),
            'agentrun.operation': operation,
            'agentrun.request_id': request_id,
          })
          span.end(status === null ? 'cut' : status >= 500 ? String(status) : null)
        },
      }
    },
    turnBegan: turn => turnTelemetry(instruments, tracer, turn),
    leasesExpired: count => instruments.leases_expired.inc(count),
    runStarted(start) {
      for (const [part, ms] of Object.entries(start))
        if (ms !== null) instruments.run_starts.observe({ part: part.replace(/_ms$/, '') }, seconds(ms))
    },
    sandboxStarted({ ms, ok }) {
      instruments.sandbox_starts.inc({ outcome: ok ? 'ok' : 'failed' })
      instruments.sandbox_time.observe(seconds(ms))
    },
    checkpointed(checkpoint) {
      instruments.checkpoints.inc({ outcome: 'code' in checkpoint ? checkpoint.code : 'stored' })
      if ('code' in checkpoint) return
      instruments.checkpoint_bytes.observe(checkpoint.bytes)
      instruments.checkpoint_time.observe(seconds(checkpoint.ms))
    },
    canarySeen: () => instruments.canaries_seen.inc(),
    webhookAttempted({ outcome, ms }) {
      instruments.webhook_attempts.inc({ outcome })
      instruments.webhook_time.observe(seconds(ms))
    },
    webhookDisabled: () => instruments.webhooks_disabled.inc(),
    errorUncaught: event => instruments.errors_uncaught.inc({ event }),
    databaseWaited: ms => instruments.database_wait.observe(seconds(ms)),
  }
}
