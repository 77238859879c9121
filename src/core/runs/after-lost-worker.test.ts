import { expect, test } from 'vitest'
import { afterLoss } from './after-lost-worker.ts'

const run = {
  status: 'running',
  pausing: false,
  overdue: false,
  losses: 0,
  stalled: false,
  stalls: 0,
} as const

test('another worker continues a run that lost its worker, up to the allowed number of times', () => {
  expect(afterLoss(run, 10)).toBe('queued')
  expect(afterLoss({ ...run, losses: 9 }, 10)).toBe('queued')
  expect(afterLoss({ ...run, losses: 10 }, 10)).toBe('lost')
  expect(afterLoss(run, 0)).toBe('lost')
})

test('a stop has precedence, then a pause, then the deadline', () => {
  const all = { pausing: true, overdue: true, losses: 99, stalled: true, stalls: 9 }
  expect(afterLoss({ status: 'cancelling', ...all }, 10)).toBe('cancelled')
  expect(afterLoss({ status: 'running', ...all }, 10)).toBe('paused')
  expect(afterLoss({ status: 'running', ...all, pausing: false }, 10)).toBe('timeout')
})

test('a run that stalled its process is continued once; another loss of its worker does not count as that', () => {
  expect(afterLoss({ ...run, stalled: true }, 10)).toBe('queued')
  expect(afterLoss({ ...run, stalled: true, stalls: 1 }, 10)).toBe('stalled')
  expect(afterLoss({ ...run, stalls: 1 }, 10)).toBe('queued')
})
