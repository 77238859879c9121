import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  commentBy,
  issueBy,
  labeledBy,
  pullRequest,
  pushTo,
  reviewBy,
  statusOf,
} from '../../../test/forge/gitea-payloads.ts'
import { readGiteaEvent } from './gitea-event.ts'

const sha = 'a'.repeat(40)
const repository = { owner: 'acme', name: 'app' }
const read = (event: string, payload: unknown) => readGiteaEvent(event, payload, 'agent')

test('a comment, a review, an issue and a label that mention the service are requests', () => {
  const by = {
    kind: 'request',
    author: 'ada',
    number: 7,
    repository,
    title: 'It is broken',
    url: expect.stringMatching(/^https:/),
  }
  const issue = { ...by, is_pull_request: false }
  const pull = { ...by, is_pull_request: true }
  expect(read('issue_comment', commentBy('ada', '@agent go', { id: 5 }))).toMatchObject({
    task: { ...issue, by: 'comment', body: '@agent go', comment_id: 5, author_association: '' },
    once: 'issue_comment:5',
  })
  expect(read('issue_comment', commentBy('ada', '@agent go', { pull: true }))).toMatchObject({
    task: { ...pull, by: 'comment' },
  })
  // A review has no number, and not every version reports which label was added: the forge has both.
  const task = { kind: 'asked', repository, number: 7 }
  for (const event of [
    'pull_request_approved',
    'pull_request_rejected',
    'pull_request_comment',
    'pull_request_review_comment',
  ])
    expect(read(event, reviewBy('ada', '@Agent: not yet'))).toEqual({
      task: { ...task, by: 'review' },
      once: null,
      mentioned_in: '@Agent: not yet',
    })
  for (const added of [true, false])
    expect(read('issues', labeledBy('ada', 'Agent', added))).toEqual({
      task: { ...task, by: 'label' },
      once: null,
    })
  const opened = issueBy('ada', 'Please, @agent')
  const time = '2026-11-22T10:00:00Z'
  expect(read('issues', opened)).toMatchObject({
    task: { ...issue, by: 'opening' },
    once: 'issues:907',
    written_at: null,
  })
  Object.assign(opened.issue, { created_at: '2026-11-20T10:00:00Z', updated_at: time })
  expect(read('issues', opened)).toHaveProperty('written_at', new Date(time))
})

test('events of bots, edits, and events that do not mention us are ignored', () => {
  const ignored = [
    ['issue_comment', commentBy('gitea-actions', '@agent go'), 'it comes from a bot'],
    ['issue_comment', commentBy('x[bot]', '@agent go'), 'it comes from a bot'],
    ['issue_comment', commentBy('ada', '@agent go', { action: 'edited' }), 'a comment that is edited'],
    ['issue_comment', commentBy('ada', 'go'), 'nobody mentions @agent'],
    ['issue_comment', commentBy('ada', 'Done, @agent <!-- agentrun: x -->'), 'it is a comment of ours'],
    ['pull_request_approved', reviewBy('ada', ''), 'nobody mentions @agent'],
    ['pull_request_approved', reviewBy('gitea-actions', '@agent'), 'it comes from a bot'],
    ['issues', labeledBy('gitea-actions', 'agent', true), 'it comes from a bot'],
    ['issues', labeledBy('ada', 'bug', true), 'nothing is done about issues label_updated'],
    ['issues', issueBy('ada', '@agent', 7, 'edited'), 'nothing is done about issues edited'],
    [
      'repository',
      { action: 'created', repository: { name: 'app', owner: { login: 'acme' } } },
      'nothing is done about repository created',
    ],
    ['push', {}, 'it is about no repository'],
  ] as const
  for (const [event, payload, why] of ignored) expect(read(event, payload)).toEqual({ ignored: why })
  const removed = labeledBy('ada', 'agent', true)
  removed.changes = { added_labels: null, removed_labels: removed.changes.added_labels }
  removed.issue.labels = []
  expect(read('issues', removed)).toHaveProperty('ignored')
})

test('an event of a pull request, a commit or a branch names what to poll', () => {
  for (const action of ['closed', 'reopened', 'edited', 'synchronized'])
    expect(read('pull_request', pullRequest(action, 9))).toEqual({
      task: { kind: 'pull_request', repository, number: 9 },
      once: null,
    })
  const checks = { task: { kind: 'checks', repository, sha }, once: null }
  const with_run = (run: object) => ({ ...statusOf(''), sha: undefined, ...run })
  expect(read('status', statusOf(sha))).toEqual(checks)
  expect(read('workflow_run', with_run({ workflow_run: { head_sha: sha } }))).toEqual(checks)
  expect(read('workflow_job', with_run({ workflow_job: { head_sha: sha } }))).toEqual(checks)
  expect(read('action_run_failure', with_run({ run: { commit_sha: sha } }))).toEqual(checks)
  expect(read('push', pushTo('main'))).toEqual({
    task: { kind: 'branch', repository, branch: 'main' },
    once: null,
  })
  expect(read('status', statusOf('../../x'))).toHaveProperty('ignored')
  const named = (context: string, login: string) => ({ ...statusOf(sha), context, sender: { id: 9, login } })
  expect(read('status', named('agentrun', 'Agent'))).toEqual({ ignored: 'it is a mark of ours' })
  for (const other of [named('agentrun', 'eve'), named('ci', 'agent')])
    expect(read('status', other)).toEqual(checks)
})

test('any payload is read without an error', () => {
  const events = [
    'issue_comment',
    'pull_request_approved',
    'issues',
    'pull_request',
    'push',
    'status',
    'workflow_run',
  ]
  fc.assert(
    fc.property(fc.constantFrom(...events), fc.jsonValue(), (event, payload) => void read(event, payload)),
  )
})
