import { expect, test } from 'vitest'
import { Problem, type ProblemCode, problems } from '../contract/error-codes.ts'
import { ServiceError } from '../core/service-error.ts'
import { codegenProblem } from '../core/wire-profile.ts'
import { problemOf, toServiceError } from './problem-response.ts'

const codes = Object.keys(problems) as ProblemCode[]

test.each(codes)(
  '%s has one shape for every client, and only an invalid request has a list as its detail',
  code => {
    const problem = problemOf(new ServiceError(code, 'What is wrong.'), 'http://service.test', {
      id: 'r',
      url: '/v1/x?token=secret',
    })
    expect(Problem.strict().parse(problem)).toEqual({
      type: `http://service.test/docs/errors#${code}`,
      title: problems[code].title,
      code,
      instance: '/v1/x',
      request_id: 'r',
      errors: [],
      status: problems[code].status,
      status_code: problems[code].status,
      detail: 'What is wrong.',
      message: 'What is wrong.',
    })
    const reworded = codegenProblem(problem)
    if (code === 'invalid_request')
      expect(reworded).toMatchObject({ status: 422, status_code: 422, detail: [{ msg: 'What is wrong.' }] })
    else expect(reworded).toEqual(problem)
  },
)

test('statuses that clients distinguish have codes of their own', () => {
  const statusOf = (code: ProblemCode) => problems[code].status
  expect(
    (['quota_exceeded', 'idempotency_mismatch', 'rate_limited', 'not_available', 'unavailable'] as const).map(
      statusOf,
    ),
  ).toEqual([402, 422, 429, 501, 503])
})

test.each([
  [{ statusCode: 415, message: 'Unsupported Media Type: x' }, 'unsupported_media_type', /JSON/],
  [{ statusCode: 413, message: 'x' }, 'payload_too_large', /24 MiB/],
  [{ statusCode: 403, message: 'Forbidden' }, 'not_found', /No such path/],
  [{ statusCode: 418, message: 'short and stout' }, 'invalid_request', /short and stout/],
  [
    Object.assign(new Error('relation "runs" does not exist'), { code: '42P01' }),
    'internal',
    /^Something went wrong on our side/,
  ],
  [
    Object.assign(new Error('connect ECONNREFUSED /secret/path'), { code: 'ECONNREFUSED' }),
    'unavailable',
    /^The database does not respond/,
  ],
  ['a text', 'internal', /^Something went wrong/],
])('%j is reported as %s', (error, code, words) => {
  const known = toServiceError(error)
  expect([known.code, known.message]).toEqual([code, expect.stringMatching(words)])
  expect(known.message).not.toMatch(/secret|relation/)
})
