import { expect, test } from 'vitest'
import { endpoints } from '../../../src/contract/endpoints.ts'
import { MessageType } from '../../../src/contract/runs/logs.ts'
import { RunStatus } from '../../../src/contract/runs/runs.ts'
import { MessageTypes, RunStatuses } from './names.ts'
import { fieldMessages, ProblemError, problemOf } from './problem.ts'
import { pathOf, routes } from './routes.ts'

test('paths and methods are those of the contract', () => {
  for (const [name, { method, path }] of Object.entries(routes)) {
    expect(endpoints[name as keyof typeof routes]).toMatchObject({ method, path })
  }
  expect(pathOf('getAgentRun', { org_id: 3, agent_run_id: 5 })).toBe('/v1/organizations/3/agent/run/5')
})

test('status and entry names are those of the contract', () => {
  expect(new Set(RunStatuses)).toEqual(new Set(RunStatus.options))
  expect(new Set(MessageTypes)).toEqual(new Set(MessageType.options))
})

test('messages of a refused form are next to their fields', () => {
  const error = new ProblemError(400, 'invalid_request', 'Invalid', [
    { loc: ['body', 'budget', 'max_steps'], msg: 'too small', type: 'too_small' },
    { loc: ['body', 'tags', 3], msg: 'too long', type: 'too_big' },
    { loc: ['body', 'tags', 4], msg: 'also too long', type: 'too_big' },
  ])
  expect(fieldMessages(error)).toEqual({ 'budget.max_steps': 'too small', tags: 'too long' })
  expect(fieldMessages(new Error('x'))).toEqual({})
})

test('a response without a problem object still reports what happened', async () => {
  const problem = await problemOf(
    new Response('<html>Bad gateway', { status: 502, statusText: 'Bad Gateway', headers: { 'retry-after': '3' } }),
  )
  expect(problem).toMatchObject({ status: 502, message: 'The service answered 502 Bad Gateway', retry_after_ms: 3000 })
})
