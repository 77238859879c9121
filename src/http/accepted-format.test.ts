import { expect, test } from 'vitest'
import { endpoints } from '../contract/endpoints.ts'
import { withAcceptedFormat } from './accepted-format.ts'

const { getUsage, getAgentRunDiff, getAgentRun } = endpoints

test('Accept chooses the format of an operation that has it', () => {
  expect(withAcceptedFormat(getUsage, { from: 'x' }, 'text/csv')).toEqual({ from: 'x', format: 'csv' })
  expect(withAcceptedFormat(getUsage, {}, 'Text/CSV; charset=utf-8, */*')).toEqual({ format: 'csv' })
  expect(withAcceptedFormat(getAgentRunDiff, {}, 'text/x-patch')).toEqual({ format: 'patch' })
})

test('the format of the query takes precedence, and other types are ignored', () => {
  expect(withAcceptedFormat(getUsage, { format: 'json' }, 'text/csv')).toEqual({ format: 'json' })
  for (const accept of [undefined, '', '*/*', 'application/json, text/csv', 'text/x-patch', 'constructor'])
    expect(withAcceptedFormat(getUsage, {}, accept)).toEqual({})
  expect(withAcceptedFormat(getAgentRun, {}, 'text/csv')).toEqual({})
})
