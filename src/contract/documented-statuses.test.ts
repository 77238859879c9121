import { expect, test } from 'vitest'
import { z } from 'zod'
import { problemStatuses } from './documented-statuses.ts'
import { none, open, org, run, v1 } from './endpoint.ts'

const row = {
  ...v1,
  tag: 'agents',
  method: 'GET',
  path: '/x',
  summary: '',
  scope: null,
  bucket: null,
  params: none,
  response: none,
} as const

test.each([
  ['a public operation without input', { ...row, ...open }, [503]],
  ['any token', row, [401, 503]],
  ['a scope', { ...row, scope: 'org:read' as const }, [401, 403, 503]],
  ['an organization', { ...row, params: org }, [400, 401, 403, 503]],
  ['an object in the path', { ...row, params: run }, [400, 401, 403, 404, 503]],
  ['a query', { ...row, query: z.object({ q: z.string() }) }, [400, 401, 503]],
  ['a body', { ...row, body: none }, [400, 401, 413, 415, 503]],
  ['a bucket', { ...row, bucket: 'standard' as const }, [401, 429, 503]],
  ['an idempotency key', { ...row, idempotent: true }, [401, 409, 422, 503]],
  ['refusals of its own', { ...row, problems: ['not_available', 'unauthorized'] as const }, [401, 501, 503]],
])('%s determines which refusals are documented', (_what, endpoint, statuses) => {
  expect(problemStatuses(endpoint)).toEqual(statuses)
})
