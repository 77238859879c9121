import { expect, test } from 'vitest'
import { evaluatePullRequest, type ProposedPullRequest } from './pull-request-findings.ts'

const good: ProposedPullRequest = {
  title: 'Round the total',
  description: 'The total is rounded to cents.',
  base_branch: 'main',
  unanswered: [],
  commits: 'pass',
  mergeable: 'clean',
  files_changed: 2,
  additions: 20,
  deletions: 3,
}
const found = (change: Partial<ProposedPullRequest>) => {
  const { verdict, findings } = evaluatePullRequest({ ...good, ...change })
  return { verdict, codes: findings.map(({ severity, code }) => `${severity} ${code}`) }
}

test('a valid pull request has no findings, and unknown values are not findings', () => {
  expect(found({})).toEqual({ verdict: 'pass', codes: [] })
  expect(found({ commits: null, mergeable: 'unknown' })).toEqual({ verdict: 'pass', codes: [] })
})

test('commits that should not have been pushed, and a conflict, fail it', () => {
  expect(found({ commits: 'fail' })).toEqual({ verdict: 'fail', codes: ['error commits_failed'] })
  expect(found({ mergeable: 'conflict' })).toEqual({ verdict: 'fail', codes: ['error conflict_with_base'] })
})

test('wording and size are reported and do not fail the evaluation', () => {
  expect(found({ title: 'WIP', description: 'x', unanswered: ['Testing', 'Risk'] })).toEqual({
    verdict: 'pass',
    codes: [
      'warning title_unclear',
      'info description_missing',
      'warning template_unanswered',
      'warning template_unanswered',
    ],
  })
  expect(found({ title: 'x'.repeat(101) }).codes).toEqual(['info title_too_long'])
  expect([found({ additions: 998 }).codes, found({ files_changed: 51 }).codes]).toEqual([
    ['warning large_change'],
    ['warning large_change'],
  ])
  expect(found({ additions: 997, files_changed: 50 }).codes).toEqual([])
})
