import { problemStatuses } from '../documented-statuses.ts'
import type { Endpoint } from '../endpoint.ts'
import { isOtherVersion } from '../endpoint.ts'
import { type Problem, type ProblemCode, problems } from '../error-codes.ts'
import { problemType } from '../error-reference.ts'
import { exampleRun } from '../runs/example-run.ts'
import type { Json } from './schemas.ts'

const text = { type: 'string' }
const whole = { type: 'integer', minimum: 0 }

/** Headers of responses, shared by all operations (specification.md#errors, #rate-limits, #access). */
export const headerComponents = {
  'X-Request-Id': {
    description: 'Identifies this request in the log of the service; a value from the client is ignored',
    schema: { ...text, format: 'uuid' },
  },
  'X-API-Stability': {
    description: 'The operation may change, announced at least 14 days ahead',
    schema: { const: 'alpha' },
  },
  'RateLimit-Policy': {
    description: 'The limit that was counted against, as in the IETF draft',
    schema: text,
  },
  RateLimit: {
    description: 'Requests that are left and the time of the reset, as in the IETF draft',
    schema: text,
  },
  'X-RateLimit-Limit': { description: 'Requests in the window', schema: whole },
  'X-RateLimit-Remaining': { description: 'Requests left', schema: whole },
  'X-RateLimit-Reset': { description: 'Seconds until the limit resets', schema: whole },
  'Retry-After': { description: 'Seconds to wait before trying again', schema: whole },
  'WWW-Authenticate': { description: 'The required authentication', schema: { const: 'Bearer' } },
  Link: {
    description:
      'Addresses of the `next` and the `prev` page of a list, as in RFC 8288; absent where there are none',
    schema: text,
  },
  'Idempotent-Replayed': {
    description: '`true`: the stored response to the first request with this key',
    schema: { const: 'true' },
  },
} as const
type HeaderName = keyof typeof headerComponents

const limit_headers: HeaderName[] = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
]
const headers = (...names: HeaderName[]): Json =>
  Object.fromEntries(
    (['X-Request-Id', ...names] as const).map(name => [name, { $ref: `#/components/headers/${name}` }]),
  )
const headersOf: Record<number, HeaderName[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', ...limit_headers],
  503: ['Retry-After'],
}

const schema = { $ref: '#/components/schemas/Problem' }

/** Returns an example of a problem. */
export function problemExample(code: ProblemCode): Problem {
  const { status, title } = problems[code]
  const detail =
    code === 'invalid_request' ? 'query.limit: must be a whole number from 1 to 100' : `${title}.`
  return {
    type: problemType(new URL(exampleRun.web_url).origin, code),
    title,
    status,
    detail,
    instance: '/v1/organizations/1/agent/runs',
    code,
    request_id: '0197a1c2-5d3e-7c41-9b1a-2f6f0c8e4d10',
    errors:
      code === 'invalid_request'
        ? [{ loc: ['query', 'limit'], msg: 'must be a whole number from 1 to 100', type: 'invalid_format' }]
        : [],
    message: detail,
    status_code: status,
  }
}

const codesOf = (status: number) =>
  (Object.keys(problems) as ProblemCode[]).filter(code => problems[code].status === status)

const descriptionOf = (status: number): string =>
  codesOf(status)
    .map(code => `\`${code}\`: ${problems[code].title}`)
    .join('; ')

const examplesOf = (status: number): Json =>
  Object.fromEntries(
    codesOf(status).map(code => [code, { summary: problems[code].title, value: problemExample(code) }]),
  )

/** The refusal of a token where only clients of the Codegen API send one. */
const PLAIN_401 = 'Problem401Plain'

/**
 * Returns `Problem` for every error, and `Problem404` for each of these statuses: its codes and their form.
 */
export function problemComponents(statuses: Iterable<number>): Json {
  const components: Json = {
    Problem: {
      description: 'Any error; `code` identifies it',
      headers: headers(),
      content: { 'application/problem+json': { schema } },
    },
    [PLAIN_401]: {
      description: `${descriptionOf(401)}; sent as plain JSON`,
      headers: headers(...(headersOf[401] ?? [])),
      content: {
        'application/json': { schema, examples: examplesOf(401) },
        // Every error has this type in the document, for clients that are generated from it.
        'application/problem+json': { schema, examples: examplesOf(401) },
      },
    },
  }
  for (const status of [...statuses].sort((a, b) => a - b)) {
    components[`Problem${status}`] = {
      description: descriptionOf(status),
      headers: headers(...(headersOf[status] ?? [])),
      content: { 'application/problem+json': { schema, examples: examplesOf(status) } },
    }
  }
  return components
}

/** Returns all responses of an operation: 200, the foreseeable problems, and `default` for every other. */
export function responsesOf(endpoint: Endpoint, path: string, content: Json): Json {
  const nameOf = (status: number) => (status === 401 && isOtherVersion(path) ? PLAIN_401 : `Problem${status}`)
  const own: HeaderName[] = [
    ...(endpoint.stability === 'alpha' ? (['X-API-Stability'] as const) : []),
    ...(endpoint.idempotent ? (['Idempotent-Replayed'] as const) : []),
    ...('cursor' in endpoint.query.shape ? (['Link'] as const) : []),
    ...(endpoint.bucket === null ? [] : limit_headers),
  ]
  return {
    200: { description: 'Success', headers: headers(...own), content },
    ...Object.fromEntries(
      problemStatuses(endpoint).map(status => [status, { $ref: `#/components/responses/${nameOf(status)}` }]),
    ),
    default: { $ref: '#/components/responses/Problem' },
  }
}
