import { expect, test } from 'vitest'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { activeClock } from './run-numbers.ts'

const run = (status: AgentRun['status'], active_seconds: number) =>
  ({ status, usage: { active_seconds } }) as AgentRun

test('the active time continues from the last report while a worker has the run, and never goes back', () => {
  const clock = activeClock()
  expect(clock(run('running', 10), 100_000)).toBe(10_000)
  expect(clock(run('running', 10), 102_500)).toBe(12_500)
  // The report of a heartbeat half a second ago.
  expect(clock(run('running', 12), 102_600)).toBe(12_600)
  expect(clock(run('running', 20), 104_000)).toBe(20_000)
})

test('a run that waits, is paused or has ended shows what it used, and continues from there', () => {
  const clock = activeClock()
  expect(clock(run('queued', 0), 0)).toBeNull()
  expect(clock(run('running', 0), 1_000)).toBe(0)
  expect(clock(run('paused', 0.52), 1_000_000)).toBe(520)
  expect(clock(run('paused', 0.52), 2_000_000)).toBe(520)
  expect(clock(run('running', 0.52), 3_000_000)).toBe(520)
  expect(clock(run('running', 0.52), 3_000_700)).toBe(1_220)
  expect(clock(run('completed', 2), 9_000_000)).toBe(2_000)
})
