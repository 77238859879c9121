import examples from '@octokit/webhooks-examples' with { type: 'json' }
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readGitHubEvent } from './github-event.ts'

// biome-ignore lint/suspicious/noExplicitAny: recorded payloads of many shapes
const recorded = examples as unknown as { name: string; examples: any[] }[]
// biome-ignore lint/suspicious/noExplicitAny: the same
const example = (name: string, fits: (payload: any) => boolean = () => true): any =>
  structuredClone(recorded.find(event => event.name === name)?.examples.find(fits))

describe('the deliveries that GitHub publishes as examples', () => {
  test('are read, each of them, without a request in their text', () => {
    for (const { name, examples } of recorded)
      for (const payload of examples) {
        const read = readGitHubEvent(name, payload, 'careful-agent')
        if ('task' in read) expect(['pull_request', 'checks', 'branch']).toContain(read.task.kind)
        else expect(read.ignored).not.toBe('')
      }
  })

  test('name what to poll', () => {
    const repository = { owner: 'Codertocat', name: 'Hello-World' }
    const tasks = [
      readGitHubEvent(
        'pull_request',
        example('pull_request', ({ action }) => action === 'closed'),
        'x',
      ),
      readGitHubEvent(
        'check_run',
        example('check_run', ({ action }) => action === 'completed'),
        'x',
      ),
      readGitHubEvent('status', example('status'), 'x'),
      readGitHubEvent(
        'push',
        example('push', ({ ref }) => ref.startsWith('refs/heads/')),
        'x',
      ),
    ]
    expect(tasks).toMatchObject([
      { task: { kind: 'pull_request', repository, number: 2 } },
      { task: { kind: 'checks', sha: expect.stringMatching(/^[0-9a-f]{40}$/) } },
      { task: { kind: 'checks', sha: expect.stringMatching(/^[0-9a-f]{40}$/) } },
      { task: { kind: 'branch', branch: expect.any(String) } },
    ])
  })

  test('are ignored when they report our own status of a run, and polled when another app uses that name', () => {
    const of = (name: string, change: (payload: ReturnType<typeof example>) => void) => {
      const payload = example(name)
      change(payload)
      return readGitHubEvent(name, payload, 'careful-agent')
    }
    const check = (name: string, slug: string) =>
      of('check_run', ({ check_run }) => Object.assign(check_run, { name, app: { ...check_run.app, slug } }))
    const status = (context: string, login: string) =>
      of('status', payload => Object.assign(payload, { context, sender: { ...payload.sender, login } }))
    const suite = (slug: string) =>
      of('check_suite', payload => Object.assign(payload.check_suite.app, { slug }))
    const ours = [
      check('agentrun', 'careful-agent'),
      status('AgentRun', 'careful-agent'),
      status('agentrun', 'careful-agent[bot]'),
    ]
    for (const read of [...ours, suite('careful-agent')])
      expect(read).toEqual({ ignored: 'it is a mark of ours' })
    const others = [
      check('agentrun', 'another-app'),
      check('test', 'careful-agent'),
      status('agentrun', 'eve'),
      suite('another-app'),
    ]
    for (const read of [...others, status('ci', 'careful-agent')])
      expect(read).toMatchObject({ task: { kind: 'checks' } })
  })

  test('become requests when they are addressed to us: a comment, a remark in a review, a review, a label', () => {
    const comment = example('issue_comment', ({ action }) => action === 'created')
    comment.comment.body = 'Please @careful-agent, mend this'
    const remark = example('pull_request_review_comment', ({ action }) => action === 'created')
    remark.comment.body = '@Careful-Agent why?'
    const review = example('pull_request_review', ({ action }) => action === 'submitted')
    review.review.body = '@careful-agent: not yet'
    const label = example('issues', ({ action }) => action === 'labeled')
    label.label.name = 'careful-agent'
    const issue = example('issues', ({ action }) => action === 'opened')
    issue.issue.body = 'It breaks. @careful-agent, please'
    const read = [
      readGitHubEvent('issue_comment', comment, 'careful-agent'),
      readGitHubEvent('pull_request_review_comment', remark, 'careful-agent'),
      readGitHubEvent('pull_request_review', review, 'careful-agent'),
      readGitHubEvent('issues', label, 'careful-agent'),
      readGitHubEvent('issues', issue, 'careful-agent'),
    ]
    const by = {
      kind: 'request',
      author: 'Codertocat',
      number: expect.any(Number),
      url: expect.stringMatching(/^https:/),
    }
    expect(read).toMatchObject([
      {
        task: { ...by, by: 'comment', is_pull_request: false, author_association: 'OWNER' },
        once: `issue_comment:${comment.comment.id}`,
      },
      {
        task: { ...by, by: 'comment', is_pull_request: true },
        once: `pull_request_review_comment:${remark.comment.id}`,
      },
      {
        task: { ...by, by: 'review', is_pull_request: true },
        once: `pull_request_review:${review.review.id}`,
      },
      {
        task: { kind: 'asked', by: 'label', repository: { owner: 'Codertocat' }, number: label.issue.number },
        once: null,
      },
      {
        task: { ...by, by: 'opening', comment_id: null, body: issue.issue.body },
        once: `issues:${issue.issue.id}`,
      },
    ])
    // A remark counts from when its review was sent.
    const times = ['20:21', '20:38', '20:38', undefined, '20:18'].map(
      time => time && new Date(`2019-05-15T15:${time}Z`),
    )
    expect(read.map(one => 'task' in one && one.written_at)).toEqual(times)
  })

  test('are ignored when a bot or an app wrote them, or they were edited afterwards', () => {
    const comment = (change: Record<string, unknown>, action = 'created') => {
      const payload = example('issue_comment', one => one.action === 'created')
      Object.assign(payload.comment, { body: '@agent go' }, change)
      return readGitHubEvent('issue_comment', { ...payload, action }, 'agent')
    }
    expect(comment({})).toHaveProperty('task')
    expect(comment({}, 'edited')).toEqual({ ignored: 'a comment that is edited' })
    expect(comment({ user: { login: 'x', type: 'Bot' } })).toEqual({ ignored: 'it comes from a bot' })
    expect(comment({ user: { login: 'x[bot]', type: 'User' } })).toEqual({ ignored: 'it comes from a bot' })
    expect(comment({ performed_via_github_app: { id: 1 } })).toEqual({ ignored: 'it was written by an app' })
  })
})

test('any payload is read without an error', () => {
  const events = recorded.map(({ name }) => name)
  fc.assert(
    fc.property(
      fc.constantFrom(...events),
      fc.jsonValue(),
      (event, payload) => void readGitHubEvent(event, payload, 'agent'),
    ),
  )
})
