import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Problem, type ProblemCode, problems } from '../contract/error-codes.ts'
import { problemType } from '../contract/error-reference.ts'
import { isDatabaseAway, isDatabaseFull } from '../core/database-away.ts'
import { errorText, type Log } from '../core/log.ts'
import { ServiceError } from '../core/service-error.ts'
import { codegenProblem } from '../core/wire-profile.ts'

/** Returns an error in the one shape of specification.md#errors. */
export function problemOf(
  error: ServiceError,
  base_url: string,
  request: { id: string; url: string | undefined },
): Problem {
  const { status, title } = problems[error.code]
  return {
    type: problemType(base_url, error.code),
    title,
    status,
    detail: error.message,
    instance: (request.url ?? '/').split('?')[0] ?? '/',
    code: error.code,
    request_id: request.id,
    errors: error.errors,
    message: error.message,
    status_code: status,
  }
}

/** Sends an error as a problem in the form of the caller's wire profile (docs/specification.md#errors). */
export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  error: ServiceError,
  base_url: string,
) {
  const problem = problemOf(error, base_url, { id: request.id, url: request.raw.url })
  const body = request.wire_profile === 'codegen' ? codegenProblem(problem) : problem
  return (
    reply
      .code(body.status)
      .headers({ ...(error.code === 'unauthorized' && { 'www-authenticate': 'Bearer' }), ...error.headers })
      // The public API sends plain JSON, and its clients parse no other type.
      .header(
        'content-type',
        `application/${request.wire_profile === 'codegen' ? 'json' : 'problem+json'}; charset=utf-8`,
      )
      .send(JSON.stringify(body))
  )
}

const byStatus: Record<number, ProblemCode> = {
  // Of a path that leads out of the folder of static files.
  403: 'not_found',
  404: 'not_found',
  408: 'request_timeout',
  413: 'payload_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  431: 'header_too_large',
}
const words: Partial<Record<ProblemCode, string>> = {
  not_found: 'No such path.',
  payload_too_large: 'The body is larger than 24 MiB, or than this operation accepts.',
  unsupported_media_type: 'The body must be JSON: Content-Type application/json.',
  uri_too_long: 'A part of the path is too long.',
}

/**
 * Converts an error of any kind for the client: ours stay as they are, the HTTP parser's are mapped by their
 * status, an unavailable database becomes 503, and everything else a 500 that reveals nothing internal.
 */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const { statusCode = 500, message = '' } = error as { statusCode?: number; message?: string }
  if (statusCode >= 400 && statusCode < 500) {
    const known = byStatus[statusCode] ?? 'invalid_request'
    return new ServiceError(known, words[known] ?? message)
  }
  if (isDatabaseFull(error))
    return new ServiceError(
      'unavailable',
      'The disk of the database is full: nothing can be written until there is space again.',
      {
        headers: { 'retry-after': '30' },
      },
    )
  if (isDatabaseAway(error))
    return new ServiceError('unavailable', 'The database does not respond; try again.', {
      headers: { 'retry-after': '2' },
    })
  return new ServiceError(
    'internal',
    'Something went wrong on our side. The request id leads to the details in the log.',
  )
}

/** Converts an error, and logs it when only the operator can fix it. */
export function knownError(error: unknown, request: FastifyRequest, log: Log): ServiceError {
  const known = toServiceError(error)
  if (known.code === 'internal')
    log('error', 'request failed', {
      request_id: request.id,
      route: request.routeOptions.url,
      error: errorText(error),
    })
  return known
}
