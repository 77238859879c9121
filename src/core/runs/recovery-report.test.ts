import { expect, test } from 'vitest'
import { countStates, type StepRecord, stepsOf } from './recovery-report.ts'

type GivenRecord = [epoch: number, kind: StepRecord['kind'], more?: object]
const records = (...given: GivenRecord[]) =>
  given.map(([epoch, kind, more], i) => ({
    turn: 1,
    epoch,
    seq: i,
    at: `t${i}`,
    kind,
    key: null,
    ...more,
  })) as StepRecord[]
const states = (at_work: boolean, ...given: GivenRecord[]) =>
  stepsOf(records(...given), at_work).map(step => `${step.tool_name ?? 'model'} ${step.state}`)

const call = (id: string) => ({ id, name: id })
const responded = (...ids: string[]) => ({ calls: ids.map(call) })

test('a step with an outcome of the owner that began it is committed', () => {
  const given: GivenRecord[] = [
    [1, 'model_started'],
    [1, 'model_answered', responded('shell')],
    [1, 'tool_started', { call_id: 'shell' }],
    [1, 'tool_finished', { call_id: 'shell', status: 'error' }],
    [1, 'model_started'],
    [1, 'model_answered', responded()],
  ]
  expect(states(true, ...given)).toEqual(['model committed', 'shell committed', 'model committed'])
  expect(stepsOf(records(...given), true)[1]).toEqual({
    n: 2,
    turn: 1,
    kind: 'tool_call',
    state: 'committed',
    tool_name: 'shell',
    call_id: 'shell',
    seq: 3,
    epoch: 1,
    started_at: 't2',
    ended_at: 't3',
  })
})

test('a model call that another owner repeats was lost, one that the same owner repeats had failed', () => {
  expect(
    states(true, [1, 'model_started'], [1, 'model_started'], [3, 'other'], [3, 'model_started']),
  ).toEqual(['model failed', 'model reissued', 'model open'])
})

test('a failed call is failed, one that was not sent after all is not_run, and the bill of a lost one does not hide that it is repeated', () => {
  const failed = { code: 'unavailable' }
  expect(
    states(
      true,
      ...([
        [1, 'model_started'],
        [1, 'model_failed', failed],
        [1, 'model_started'],
        [3, 'other'],
        [3, 'model_failed', { code: 'lost' }],
        [3, 'model_started'],
        [3, 'model_failed', { code: 'not_called' }],
      ] satisfies GivenRecord[]),
    ),
  ).toEqual(['model failed', 'model reissued', 'model not_run'])
})

test('a tool that was started and whose outcome is unknown is interrupted, one that was never started is not_run', () => {
  const given: GivenRecord[] = [
    [1, 'model_started'],
    [1, 'model_answered', responded('a', 'b', 'c')],
    [1, 'tool_started', { call_id: 'a' }],
    [1, 'tool_finished', { call_id: 'a', status: 'ok' }],
    [1, 'tool_started', { call_id: 'b' }],
    [3, 'other'],
    [3, 'tool_finished', { call_id: 'b', status: 'interrupted' }],
    [3, 'tool_finished', { call_id: 'c', status: 'interrupted' }],
    [3, 'model_started'],
  ]
  expect(states(true, ...given)).toEqual([
    'model committed',
    'a committed',
    'b interrupted',
    'c not_run',
    'model open',
  ])
  expect(countStates(stepsOf(records(...given), true))).toEqual({
    committed: 2,
    reissued: 0,
    interrupted: 1,
    not_run: 1,
    failed: 0,
    open: 1,
  })
})

test('nothing is open in a run without a worker', () => {
  expect(states(false, [1, 'model_started'])).toEqual(['model failed'])
  const begun: GivenRecord[] = [
    [1, 'model_started'],
    [1, 'model_answered', responded('a')],
    [1, 'tool_started', { call_id: 'a' }],
  ]
  expect(states(false, ...begun)).toEqual(['model committed', 'a interrupted'])
})

test('call ids that recur in a later response are other steps', () => {
  const round: GivenRecord[] = [
    [1, 'model_started'],
    [1, 'model_answered', responded('x')],
    [1, 'tool_started', { call_id: 'x' }],
    [1, 'tool_finished', { call_id: 'x', status: 'ok' }],
  ]
  expect(states(true, ...round, ...round)).toEqual([
    'model committed',
    'x committed',
    'model committed',
    'x committed',
  ])
})

test('parallel calls of a program end by their own records, and one that was lost has an unknown outcome', () => {
  const given: GivenRecord[] = [
    ...(['a', 'b', 'c', 'd', 'e'].map(key => [1, 'model_started', { key }]) satisfies GivenRecord[]),
    [1, 'model_answered', { key: 'b', calls: [] }],
    [1, 'model_failed', { key: 'a', code: 'unavailable' }],
    [1, 'model_failed', { key: 'c', code: 'not_called' }],
    [2, 'model_failed', { key: 'd', code: 'lost' }],
  ]
  expect(states(true, ...given)).toEqual([
    'model failed',
    'model committed',
    'model not_run',
    'model interrupted',
    'model open',
  ])
})
