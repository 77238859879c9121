import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Endpoint, methodsOf, pathsOf } from '../contract/endpoint.ts'
import { endpoints } from '../contract/endpoints.ts'
import { mcpOperations } from '../contract/mcp/mcp-operations.ts'
import { gitOperations } from '../contract/pull-requests/git-operations.ts'
import type { Log, LogLevel } from '../core/log.ts'
import type { Telemetry } from '../telemetry/port.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace context for the work that this request starts; null when tracing is off. */
    traceparent: string | null
  }
}

/** The caller, once known. */
export type Caller = { organization_id: number | null; token_id: number | null }

const operations: ReadonlyMap<string, string> = new Map(
  (Object.entries({ ...endpoints, ...gitOperations, ...mcpOperations }) as [string, Endpoint][]).flatMap(
    ([name, endpoint]) =>
      methodsOf(endpoint).flatMap(method =>
        pathsOf(endpoint).map(path => [`${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`, name] as const),
      ),
  ),
)
/** Requested so often, by machines, that a line for each would hide the others. */
const probes = ['getHealth', 'getReadiness']

/**
 * Records one log line and one measurement for each request when it is over: responded to, or abandoned by
 * its client.
 */
export function watchRequests(
  app: FastifyInstance,
  { telemetry, log }: { telemetry: Telemetry; log: Log },
  callerOf: (request: FastifyRequest) => Caller,
) {
  app.decorateRequest('traceparent', null)
  app.addHook('onRequest', (request, reply, next) => {
    const began = performance.now()
    const seen = telemetry.requestBegan(request.raw.headersDistinct.traceparent?.[0])
    request.traceparent = seen.traceparent
    reply.raw.once('close', () => {
      const status = reply.raw.headersSent ? reply.raw.statusCode : null
      const operation = operationOf(request, status)
      const { method, id: request_id } = request
      const route = operations.has(`${method} ${request.routeOptions.url}`)
        ? (request.routeOptions.url ?? null)
        : null
      seen.ended({ operation, method, route, path: request.url.split('?')[0] ?? '', status, request_id })
      const duration_ms = Math.round(performance.now() - began)
      const cut = reply.raw.writableFinished ? {} : { cut: true }
      log(levelOf(operation, status), 'request', {
        operation,
        status,
        duration_ms,
        request_id,
        ...callerOf(request),
        ...cut,
      })
    })
    next()
  })
}

/** Returns the operation of the contract or of git; otherwise `asset`, `page` or `none`. */
function operationOf({ method, routeOptions, is404 }: FastifyRequest, status: number | null): string {
  const name = operations.get(`${method} ${routeOptions.url}`)
  if (name !== undefined) return name
  if (!is404) return 'asset'
  return status === 200 ? 'page' : 'none'
}

function levelOf(operation: string, status: number | null): LogLevel {
  if (status !== null && status >= 500) return 'warn'
  return probes.includes(operation) ? 'debug' : 'info'
}
