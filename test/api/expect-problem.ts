import { expect } from 'vitest'
import { Problem } from '../../src/contract/error-codes.ts'
import type { ApiResponse } from '../start-app.ts'

/**
 * An error of the shape in specification.md#errors: `status`, the same id in header and body, nothing cached;
 * `fields` are the locations it names, for example `body.prompt`.
 */
export function expectProblem(response: ApiResponse, status: number, ...fields: string[]): Problem {
  expect({ status: response.status, body: response.body }).toMatchObject({ status })
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const problem = Problem.strict().parse(response.body)
  // The address of the reference of errors: a section of a page that every service has.
  expect(problem.type).toMatch(new RegExp(`^http://[^/]+/docs/errors#${problem.code}$`))
  expect(problem).toMatchObject({ status, status_code: status, message: problem.detail })
  expect(response.headers.get('x-request-id')).toBe(problem.request_id)
  expect(problem.detail).not.toBe('')
  const named = problem.errors.map(error => error.loc.join('.'))
  for (const field of fields) expect(named).toContain(field)
  for (const error of problem.errors) expect(error.msg).not.toBe('')
  return problem
}
