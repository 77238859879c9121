import { storedJson } from '../../core/json/stored-json.ts'
import type { FieldError, Problem } from './operations.ts'

type Facts = {
  status: number
  code: string
  detail: string
  errors?: FieldError[]
  request_id?: string | null
  retry_after_ms?: number | null
  problem?: Problem | null
  cause?: unknown
}

/**
 * Every failure of a call. `status` is the HTTP status, or 0 when there was no response: `code` is then
 * `unreachable`, `timeout` or `stream_blocked`. An abort by the caller's own signal is not one of these: it
 * rejects with the signal's reason.
 */
export class AgentRunError extends Error {
  override name = 'AgentRunError'
  readonly status: number
  /**
   * A code of the service (`invalid_request`, `unauthorized`, …), or `unexpected` for a response that is not
   * from the service.
   */
  readonly code: string
  readonly detail: string
  /** The problem of each field: `loc` is `body`, `query` or `path` and the names below. */
  readonly errors: FieldError[]
  readonly request_id: string | null
  /** How long the service requests to wait, in milliseconds. */
  readonly retry_after_ms: number | null
  /** The problem document as the service sent it. */
  readonly problem: Problem | null

  constructor(facts: Facts) {
    super(facts.detail, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.status = facts.status
    this.code = facts.code
    this.detail = facts.detail
    this.errors = facts.errors ?? []
    this.request_id = facts.request_id ?? null
    this.retry_after_ms = facts.retry_after_ms ?? null
    this.problem = facts.problem ?? null
  }
}

/**
 * Returns the error of a failed response. A body that is not a problem document (a proxy's page) is described
 * by its status.
 */
export async function refusal(response: Response, retry_after_ms: number | null): Promise<AgentRunError> {
  const body = await response
    .text()
    .then(storedJson<unknown>)
    .catch(() => null)
  const { status } = response
  const problem = isProblem(body) ? body : null
  return new AgentRunError({
    status,
    retry_after_ms,
    problem,
    code: problem?.code ?? 'unexpected',
    detail: problem?.message ?? `The service responded with ${status} ${response.statusText}`.trim(),
    errors: Array.isArray(problem?.errors) ? problem.errors : [],
    request_id: problem?.request_id ?? response.headers.get('x-request-id'),
  })
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  'code' in body &&
  'message' in body &&
  typeof body.message === 'string'
