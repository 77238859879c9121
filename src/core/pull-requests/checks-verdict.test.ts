import { expect, test } from 'vitest'
import type { CheckConclusion } from '../../contract/pull-requests/checks.ts'
import { checkConclusions } from '../../contract/pull-requests/checks.ts'
import { checksVerdict, hasFailed, hasPassed, isFixable, type SeenCheck } from './checks-verdict.ts'

const check = (name: string, conclusion: CheckConclusion | null, app: string | null = null): SeenCheck => ({
  name,
  source: app === null ? 'local' : 'github',
  app,
  conclusion,
  status: conclusion === null ? 'in_progress' : 'completed',
  ignored: false,
})

test('without checks, or without counting ones, there is no verdict', () => {
  const nothing = { state: 'none', passed: 0, failed: 0, pending: 0, failing: [], settled: true }
  expect(checksVerdict([])).toEqual(nothing)
  expect(
    checksVerdict([check('a', 'failure'), check('b', null)].map(one => ({ ...one, ignored: true }))),
  ).toEqual(nothing)
})

test('a failed check is a failure, an unfinished one is awaited, only passed ones are a success', () => {
  expect(checksVerdict([check('a', 'success'), check('b', 'skipped')])).toMatchObject({
    state: 'success',
    passed: 2,
    settled: true,
  })
  expect(checksVerdict([check('a', 'success'), check('b', null)])).toMatchObject({
    state: 'pending',
    pending: 1,
    settled: false,
  })
  const failed = checksVerdict([check('a', 'failure'), check('b', null)])
  expect(failed).toMatchObject({
    state: 'failure',
    failed: 1,
    pending: 1,
    settled: false,
    failing: [{ name: 'a' }],
  })
})

test('a failure of an app of high priority does not wait for the others', () => {
  const checks = [check('a', 'failure', 'lint-bot'), check('b', null, 'actions')]
  expect(checksVerdict(checks).settled).toBe(false)
  expect(checksVerdict(checks, ['lint-bot']).settled).toBe(true)
  expect(checksVerdict(checks, ['actions']).settled).toBe(false)
})

test('every conclusion is a success or a failure, and everything fixable is a failure', () => {
  for (const conclusion of checkConclusions) {
    expect({ conclusion, one: hasPassed({ conclusion }) !== hasFailed({ conclusion }) }).toEqual({
      conclusion,
      one: true,
    })
    if (isFixable({ conclusion })) expect(hasFailed({ conclusion })).toBe(true)
  }
  expect([hasPassed({ conclusion: null }), hasFailed({ conclusion: null })]).toEqual([false, false])
})
