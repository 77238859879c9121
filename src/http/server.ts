import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import { limits } from '../contract/limits.ts'
import type { Log } from '../core/log.ts'
import { ServiceError } from '../core/service-error.ts'
import type { Services } from '../service/context.ts'
import { profileOf } from './admission.ts'
import { knownError, sendProblem, toServiceError } from './problem-response.ts'
import { refuseOddities, refuseUnreadable } from './raw-problem.ts'
import { boundRest } from './request-bounds.ts'
import { edgeHeaders } from './security-headers.ts'

type Options = { services: Services; trust_proxy: boolean; log: Log }

/**
 * How long a client may take to send its headers, and its whole request; Node's defaults are 60 s and 300 s,
 * checked every 30 s.
 */
export const request_timeouts = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2_000,
}

const no_forms = 'Forms and files are not supported: send JSON, with images as data URIs in `images`.'

/**
 * Creates the Fastify instance without routes: its limits, its parsers of bodies, and the one shape of errors
 * from every layer.
 */
export function createServer(
  { services, trust_proxy, log }: Options,
  timeouts: typeof request_timeouts,
): FastifyInstance {
  const app = Fastify({
    bodyLimit: limits.body_bytes,
    genReqId: () => randomUUID(),
    // One proxy, ours: anybody may have written what precedes its own addition to X-Forwarded-For.
    trustProxy: trust_proxy && ((_address, hop) => hop === 0),
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
    exposeHeadRoutes: false,
    // Node has one timeout for all requests: `boundRequestTime` enforces it, except where a body is a stream.
    requestTimeout: 0,
    http: { ...timeouts, requestTimeout: 0, maxHeaderSize: limits.header_bytes, requireHostHeader: false },
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseUnreadable(error, socket, services.base_url),
    frameworkErrors: async (error, request, reply) => {
      boundRest(request, reply)
      request.wire_profile ??= await profileOf(services, request)
      sendProblem(request, reply.headers(edgeHeaders(request.id)), toServiceError(error), services.base_url)
    },
  })
  refuseOddities(app.server, services)
  app.decorateRequest('wire_profile', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) =>
    done(new ServiceError('unsupported_media_type', no_forms)),
  )
  app.setErrorHandler(async (error, request, reply) => {
    request.wire_profile ??= await profileOf(services, request)
    return sendProblem(request, reply, knownError(error, request, log), services.base_url)
  })
  return app
}
