import { expect, test } from 'vitest'
import { RunStatus } from '../../contract/runs/runs.ts'
import { isTerminal } from '../runs/run-transitions.ts'
import { isOverKey, markKey, runMark } from './run-mark.ts'

const run = {
  status: 'completed',
  status_reason: null,
  waiting_on: null,
  superseded: false,
  checks_given_up: null,
} as const

test.each(RunStatus.options)(
  'of a run that is %s it is over if the run is, and has a conclusion if it is over',
  status => {
    const mark = runMark({ ...run, status })
    expect(mark.status === 'completed').toBe(isTerminal(status))
    expect(mark.conclusion !== null).toBe(isTerminal(status))
    expect(isOverKey(markKey(mark))).toBe(isTerminal(status))
  },
)

test('only a run that did everything that was requested is a success', () => {
  const good = [
    run,
    { ...run, status: 'failed' },
    { ...run, status: 'cancelled' },
    { ...run, checks_given_up: 'same_diff' },
    { ...run, status_reason: 'pull_request_refused' },
    undefined,
  ].map(one => runMark(one as typeof run).conclusion)
  expect(good).toEqual(['success', 'failure', 'cancelled', 'neutral', 'neutral', 'neutral'])
  expect(runMark({ ...run, status: 'failed', superseded: true }).conclusion).toBe('neutral')
  expect(runMark({ ...run, status: 'failed', status_reason: 'timeout' }).title).toBe('Failed (timeout)')
  expect(runMark({ ...run, status: 'waiting', waiting_on: 'ci' }).title).toBe('Running')
})
