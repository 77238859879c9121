import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Endpoint, none, org, v1 } from '../../contract/endpoint.ts'
import { namedIn, reachOf } from './reach.ts'

const row = (given: Partial<Endpoint>): Endpoint => ({
  ...v1,
  method: 'POST',
  path: '/',
  tag: 'agents',
  summary: 'X',
  scope: 'runs:write',
  bucket: 'standard',
  params: org,
  response: none,
  ...given,
})

test('an unlisted operation is denied, and so is every one that administers the organization', () => {
  expect(reachOf(row({}))).toBe('none')
  expect(reachOf(row({ method: 'GET', scope: 'runs:read' }))).toBe('none')
  expect(reachOf(row({ scope: 'org:admin', body: z.object({ default_repo_id: z.int() }) }))).toBe('none')
})

test('an operation that names a thing of a repository, in path, query or body, is judged by it', () => {
  expect(reachOf(row({ params: org.extend({ agent_run_id: z.string() }) }))).toBe('named')
  expect(reachOf(row({ query: z.object({ repo_id: z.string() }) }))).toBe('named')
  expect(reachOf(row({ body: z.object({ parent_run_id: z.int() }) }))).toBe('named')
})

test('reading the organization is permitted, and a row may override that', () => {
  expect(reachOf(row({ method: 'GET', scope: 'org:read' }))).toBe('free')
  expect(reachOf(row({ method: 'GET', scope: 'org:read', reach: 'none' }))).toBe('none')
})

test('only ids that were given count, and only names of the list', () => {
  const input = {
    params: { org_id: 1, agent_run_id: 2 },
    query: { repo_id: 3 },
    body: { parent_run_id: null, constructor: 4, title: 'x' },
  }
  expect(namedIn(input)).toEqual([
    { kind: 'run', id: 2 },
    { kind: 'repository', id: 3 },
  ])
  expect(namedIn({ params: {}, query: {}, body: undefined })).toEqual([])
  // Of a filter with several values each one counts.
  expect(namedIn({ params: {}, query: { repo_id: [3, 4], tag: ['5'] }, body: undefined })).toEqual([
    { kind: 'repository', id: 3 },
    { kind: 'repository', id: 4 },
  ])
})
