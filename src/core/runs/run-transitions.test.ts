import { expect, test } from 'vitest'
import type { RunStatus } from '../../contract/runs/runs.ts'
import { RunStatus as RunStatusSchema } from '../../contract/runs/runs.ts'
import { isConsistent, isTerminal, mayMove, sourcesOf } from './run-transitions.ts'

const all = RunStatusSchema.options
const allowed = new Set(
  `queued→starting starting→running starting→queued running→queued running→waiting waiting→running queued→paused starting→paused
   running→paused waiting→paused paused→queued queued→cancelling starting→cancelling running→cancelling waiting→cancelling
   paused→cancelling cancelling→cancelled queued→failed starting→failed running→failed waiting→failed running→completed`
    .trim()
    .split(/\s+/),
)

test('exactly the decided edges exist, every other pair is refused', () => {
  for (const from of all)
    for (const to of all)
      expect([from, to, mayMove({ from, to })]).toEqual([from, to, allowed.has(`${from}→${to}`)])
})

test('a terminal run moves by a resume only, and only to queued', () => {
  for (const from of all.filter(isTerminal))
    for (const to of all) expect(mayMove({ from, to, by_resume: true })).toBe(to === 'queued')
})

test('every non-terminal run can be stopped', () => {
  const stoppable: RunStatus[] = ['queued', 'starting', 'running', 'waiting', 'paused']
  expect(sourcesOf('cancelling')).toEqual(stoppable)
})

test('a failed run has a reason, a running run a phase, a waiting run what it waits for', () => {
  const none = { status_reason: null, phase: null, waiting_on: null }
  expect(isConsistent({ ...none, status: 'failed' })).toBe(false)
  expect(isConsistent({ ...none, status: 'failed', status_reason: 'lost' })).toBe(true)
  expect(isConsistent({ ...none, status: 'failed', status_reason: 'budget' })).toBe(false)
  expect(isConsistent({ ...none, status: 'running' })).toBe(false)
  expect(isConsistent({ ...none, status: 'running', phase: 'clone' })).toBe(false)
  expect(isConsistent({ ...none, status: 'running', phase: 'agent' })).toBe(true)
  expect(isConsistent({ ...none, status: 'waiting' })).toBe(false)
  expect(isConsistent({ ...none, status: 'waiting', waiting_on: 'user_input' })).toBe(true)
  expect(isConsistent({ ...none, status: 'completed', phase: 'agent' })).toBe(false)
  expect(isConsistent({ ...none, status: 'completed' })).toBe(true)
  expect(isConsistent({ ...none, status: 'completed', status_reason: 'push_refused' })).toBe(true)
  expect(isConsistent({ ...none, status: 'completed', status_reason: 'timeout' })).toBe(false)
  expect(isConsistent({ ...none, status: 'failed', status_reason: 'push_refused' })).toBe(false)
})
