import { expect, test } from 'vitest'
import { exponential, exponentialDelays, retryDelay } from './retry-policy.ts'

test('delays double up to the maximum, which holds for every later attempt', () => {
  expect(exponentialDelays(2, 10)).toEqual([2, 4, 8, 10])
  expect(exponentialDelays(0, 10)).toEqual([0])
  expect(exponentialDelays(200, 3_200)).toEqual([200, 400, 800, 1_600, 3_200])
  expect([1, 2, 4, 5, 1_000].map(attempt => retryDelay(exponential(2, 10), attempt, null, 1))).toEqual([
    2, 4, 10, 10, 10,
  ])
})

test('a delay is between half and all of that of the policy, unless the policy has another range', () => {
  expect([0, 0.5, 1].map(random => retryDelay(exponential(8, 8), 1, null, random))).toEqual([4, 6, 8])
  expect([0, 1].map(random => retryDelay(exponential(10, 10, [0.8, 1.2]), 1, null, random))).toEqual([8, 12])
})

test('a requested delay is respected up to a maximum and never makes attempts more frequent', () => {
  const policy = { ...exponential(10, 10, [1, 1]), max_retry_after: 100 }
  expect([null, 1, 60, 1_000].map(retry_after => retryDelay(policy, 1, retry_after))).toEqual([
    10, 10, 60, 100,
  ])
})
