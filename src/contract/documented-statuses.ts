import type { Endpoint } from './endpoint.ts'
import { type ProblemCode, problems } from './error-codes.ts'

/**
 * Returns the error statuses of an operation in the document, ascending: those of every operation of its
 * kind, and those that its row names. Errors of the HTTP edge before routing (405, 408, 414, 431 …) are
 * `default` in the document.
 */
export function problemStatuses(endpoint: Endpoint): number[] {
  const { params, query, body, access, scope, bucket, idempotent = false } = endpoint
  const path = Object.keys(params.shape)
  const token = access === 'token'
  const general: [boolean, ProblemCode][] = [
    [path.length > 0 || Object.keys(query.shape).length > 0 || body !== null, 'invalid_request'],
    [token, 'unauthorized'],
    [token && (path.includes('org_id') || scope !== null), 'forbidden'],
    [path.some(name => name !== 'org_id'), 'not_found'],
    [body !== null, 'payload_too_large'],
    [body !== null, 'unsupported_media_type'],
    [idempotent, 'conflict'],
    [idempotent, 'idempotency_mismatch'],
    [bucket !== null, 'rate_limited'],
    [true, 'unavailable'],
  ]
  const codes = [...general.filter(([can]) => can).map(([, code]) => code), ...(endpoint.problems ?? [])]
  return [...new Set(codes.map(code => problems[code].status))].sort((a, b) => a - b)
}
