import { z } from 'zod'

/**
 * Error codes and their statuses (specification.md#errors). One table: nothing else in the service determines
 * an error status.
 */
export const problems = {
  invalid_request: { status: 400, title: 'Invalid request' },
  no_logs: { status: 400, title: 'No logs to analyze' },
  unauthorized: { status: 401, title: 'Missing or invalid token' },
  quota_exceeded: { status: 402, title: 'The quota of the organization is used up' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  conflict: { status: 409, title: 'Conflict' },
  invalid_transition: { status: 409, title: 'The run is not in a state that allows this' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  uri_too_long: { status: 414, title: 'URI too long' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  expectation_failed: { status: 417, title: 'Expectation failed' },
  idempotency_mismatch: { status: 422, title: 'The idempotency key was used for another request' },
  rate_limited: { status: 429, title: 'Rate limit exceeded' },
  header_too_large: { status: 431, title: 'Request header fields too large' },
  internal: { status: 500, title: 'Internal error' },
  not_available: { status: 501, title: 'Not available in this build' },
  unavailable: { status: 503, title: 'Service unavailable' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof problems

export const FieldError = z
  .object({
    loc: z
      .array(z.union([z.string(), z.int()]))
      .describe('Location of the field: `body`, `query` or `path`, then the field names'),
    msg: z.string().describe('Message for people'),
    type: z.string().describe('Code for programs'),
  })
  .meta({ id: 'FieldError' })
export type FieldError = z.infer<typeof FieldError>

/** RFC 9457 with our extensions; `message` and `status_code` serve clients of the public API. */
export const Problem = z
  .object({
    type: z
      .string()
      .describe('The address of the section of this kind of error in the error reference of the service'),
    title: z.string().describe('The kind of error, for people'),
    status: z.int().describe('The HTTP status'),
    detail: z.string().describe('The problem with this request, for people'),
    instance: z.string().describe('The path of the request'),
    code: z.string().describe('The kind of error, for programs'),
    request_id: z.string().describe('The same as `X-Request-Id`'),
    errors: z.array(FieldError).describe('Every invalid field, for a 400'),
    message: z.string().describe('The same as `detail`'),
    status_code: z.int().describe('The same as `status`'),
  })
  .meta({ id: 'Problem' })
export type Problem = z.infer<typeof Problem>
