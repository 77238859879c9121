import { expect, test } from 'vitest'
import { AgentRunError } from '../../../src/client/sdk/error.ts'
import { fieldMessages, isSignedOut, statusOf } from './api-error.ts'

test('messages of a rejected form are shown at their fields', () => {
  const error = new AgentRunError({
    status: 400,
    code: 'invalid_request',
    detail: 'Invalid',
    errors: [
      { loc: ['body', 'budget', 'max_steps'], msg: 'too small', type: 'too_small' },
      { loc: ['body', 'tags', 3], msg: 'too long', type: 'too_big' },
      { loc: ['body', 'tags', 4], msg: 'also too long', type: 'too_big' },
    ],
  })
  expect(fieldMessages(error)).toEqual({ 'budget.max_steps': 'too small', tags: 'too long' })
  expect(fieldMessages(new Error('x'))).toEqual({})
})

test('only a 401 means that the browser is signed out', () => {
  const refused = (status: number) => new AgentRunError({ status, code: 'x', detail: 'x' })
  expect([401, 403, 0].map(status => isSignedOut(refused(status)))).toEqual([true, false, false])
  expect(statusOf(new Error('x'))).toBeNull()
})
