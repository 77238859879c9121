import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deliver, SECRET } from '../../forge/deliver.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { commentBy, labeledBy, openedBy, remarkBy, reviewBy } from '../../forge/github-payloads.ts'
import { pollNow, requestsOn as requestsAbout } from '../../forge/poll.ts'
import { type App, rows, startApp } from '../../start-app.ts'
import { allLogs, createRun } from '../await-run.ts'

/** What people request on GitHub, and a poll of it. No worker processes the resulting runs. */
let app: App
let github: FakeGitHub
let hook: string
let repo_id: number
beforeAll(async () => {
  github = await startFakeGitHub()
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  const at = `/v1/organizations/${app.org_id}`
  hook = (
    await app.call('PUT', `${at}/integrations/github`, {
      url: github.url,
      token: github.token,
      webhook_secret: SECRET,
    })
  ).body.webhook_url
  repo_id = (await app.call('POST', `${at}/repos`, { url: `${github.url}/acme/app.git` })).body.id
  github.state.permissions.set('ada', 'write').set('eve', 'read')
  await rows(app, `update repositories set mentions_since = now() - interval '1 year'`)
  await rows(app, `update forges set connected_at = now() - interval '1 year'`)
})
afterAll(async () => {
  expect(github.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
})

const CHANGED = 'GET /repos/{owner}/{repo}/issues'
const REVIEWS = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews'
const EVENTS = 'GET /repos/{owner}/{repo}/issues/{issue_number}/events'
let number = 500
let id = 9_000
beforeEach(() => {
  number += 10
  github.requests.length = 0
})

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()
const issue = (user: string, body: string, { of = number, at = ago(0), edited_at = '' } = {}) =>
  github.state.issues.push({
    number: of,
    user,
    title: 'It is broken',
    body,
    created_at: at,
    ...(edited_at && { edited_at }),
  })
const pull = (of = number) =>
  github.state.pulls.push({
    number: of,
    state: 'open',
    draft: false,
    merged_sha: null,
    title: 'One',
    body: '',
    head: 'main',
    base: 'main',
    user: 'ada',
    created_at: ago(60),
  })
const label = (user: string, given: boolean, { of = number, at = ago(0), name = 'agent-bot' } = {}) =>
  github.state.labelings.push({ id: ++id, number: of, user, label: name, given, at })

/** Each poll reads the last minutes again, and would consume the recorded responses. */
const forget = () => {
  const { issues, pulls, comments, labelings } = github.state
  for (const all of [issues, pulls, comments, labelings]) all.length = 0
}
const poll = () => pollNow(app, repo_id)
const requestsOn = (of = number) => requestsAbout(app, of)
const notify = async (event: string, payload: unknown) => (await deliver(hook, event, payload)).body

test('a request without a webhook is found by polling: an opening, a label, a review, a comment; a late webhook changes nothing', async () => {
  const [opened, labeled, reviewed] = [number, number + 1, number + 2]
  issue('ada', '@agent-bot please fix it', { of: opened })
  issue('ben', 'It breaks.', { of: labeled, at: ago(200_000) })
  label('ada', true, { of: labeled })
  pull(reviewed)
  github.state.reviews.push({
    id: 71,
    number: reviewed,
    user: 'ada',
    body: '@agent-bot: not yet',
    submitted_at: ago(2),
  })
  github.state.remarks.push({
    id: 72,
    number: reviewed,
    review_id: 71,
    user: 'ada',
    body: '@agent-bot why?',
    created_at: ago(90),
  })
  await poll()
  const found = [await requestsOn(opened), await requestsOn(labeled), await requestsOn(reviewed)]
  expect(found.map(of => of.map(({ once }) => once))).toEqual([
    [`issues:${900 + opened}`],
    [`labeled:${id}`],
    ['pull_request_review:71', 'pull_request_review_comment:72'],
  ])
  const run_ids = found.map(of => of.map(({ run_id }) => run_id))
  expect(new Set(run_ids.flat()).size).toBe(3)
  expect(run_ids[2]?.[0]).toBe(run_ids[2]?.[1])
  expect(found.flat().map(({ outcome }) => outcome)).toEqual([
    ...Array.from({ length: 3 }, () => expect.stringMatching(/^started run/)),
    expect.stringMatching(/^passed on to run/),
  ])
  const by_label = (await allLogs(app, run_ids[1]?.[0] ?? 0)).find(
    ({ message_type }) => message_type === 'USER_GITHUB_ISSUE_COMMENT',
  )
  expect(by_label.observation).toMatchObject({
    author: 'ada',
    body: 'It breaks.',
    comment_id: null,
    trusted: false,
  })

  const late = [
    await notify('issues', openedBy('ada', '@agent-bot please fix it', { number: opened, id: 900 + opened })),
    await notify('pull_request_review', reviewBy('ada', '@agent-bot: not yet', { number: reviewed, id: 71 })),
    await notify(
      'pull_request_review_comment',
      remarkBy('ada', '@agent-bot why?', { number: reviewed, id: 72 }),
    ),
  ]
  expect(late).toMatchObject(late.map(() => ({ duplicate: true, queued: false })))
  expect(await notify('issues', labeledBy('ada', 'agent-bot', { number: labeled }))).toMatchObject({
    queued: true,
  })
  await poll()
  expect([await requestsOn(opened), await requestsOn(labeled), await requestsOn(reviewed)]).toEqual(found)
}, 120_000)

test('a mention in a comment of a template, in code or in a quotation is none for a poll either', async () => {
  issue('ada', 'Fix login.\r\n\r\n<!-- Mention @agent-bot to have it reviewed. -->\r\n')
  for (const [i, body] of [
    '``@agent-bot``',
    '<pre>\n@agent-bot\n</pre>',
    '> @agent-bot',
    '    @agent-bot',
  ].entries())
    github.state.comments.push({ id: 170 + i, number, user: 'ada', body, created_at: ago(1) })
  await poll()
  expect(await requestsOn()).toEqual([])
  github.state.comments.push({
    id: 179,
    number,
    user: 'ada',
    body: '<!-- hidden -->\n@agent-bot',
    created_at: ago(1),
  })
  await poll()
  expect((await requestsOn()).map(({ once }) => once)).toEqual(['issue_comment:179'])
})

test('what a webhook reported first is not repeated by a poll', async () => {
  const [opened, labeled, text] = [number, number + 1, number + 2]
  pull(opened)
  Object.assign(github.state.pulls.at(-1) ?? {}, { body: '@agent-bot, please' })
  expect(
    await notify(
      'pull_request',
      openedBy('ada', '@agent-bot, please', { number: opened, id: 1_000 + opened, pull: true }),
    ),
  ).toMatchObject({ queued: true })
  pull(labeled)
  label('ada', true, { of: labeled })
  expect(
    await notify('pull_request', labeledBy('ada', 'agent-bot', { number: labeled, pull: true })),
  ).toMatchObject({ queued: true })
  github.state.comments.push({ id: 73, number: text, user: 'ada', body: '@agent-bot?', created_at: ago(1) })
  expect(
    await notify('issue_comment', commentBy('ada', '@agent-bot?', { number: text, id: 73 })),
  ).toMatchObject({ queued: true })
  const requests = [await requestsOn(opened), await requestsOn(labeled), await requestsOn(text)]
  expect(requests.map(of => of.map(({ run_id }) => run_id !== null))).toEqual([[true], [true], [true]])
  await poll()
  expect([await requestsOn(opened), await requestsOn(labeled), await requestsOn(text)]).toEqual(requests)
}, 90_000)

test('a label that is added, removed and added again requests twice, by webhook or poll; one that is removed before a poll does not', async () => {
  issue('ada', 'It breaks.')
  label('ada', true)
  const payload = labeledBy('ada', 'agent-bot', { number })
  await notify('issues', payload)
  expect(await requestsOn()).toHaveLength(1)
  label('ada', false)
  await poll()
  expect(await requestsOn()).toHaveLength(1)
  label('ada', true)
  await poll()
  const [first, second, ...more] = await requestsOn()
  expect([first?.once, second?.once, second?.run_id, more]).toEqual([
    `labeled:${id - 2}`,
    `labeled:${id}`,
    first?.run_id,
    [],
  ])
  // The same event is reported again, with another time.
  await notify('issues', payload)
  await notify('issues', { ...payload, issue: { ...payload.issue, updated_at: ago(0) } })
  expect(await requestsOn()).toHaveLength(2)

  issue('ada', 'It breaks.', { of: number + 1 })
  label('ada', true, { of: number + 1 })
  label('ada', false, { of: number + 1 })
  await poll()
  expect(await requestsOn(number + 1)).toEqual([])
  // A webhook reports that it was added, however soon it was removed.
  await notify('issues', labeledBy('ada', 'agent-bot', { number: number + 1 }))
  expect(await requestsOn(number + 1)).toMatchObject([
    { once: `labeled:${id - 1}`, outcome: expect.stringMatching(/^started run/) },
  ])
  // It is the last one that was reported.
  issue('ada', 'It breaks.', { of: number + 2 })
  for (const given of [true, false, true]) label('ada', given, { of: number + 2 })
  await notify('issues', labeledBy('ada', 'agent-bot', { number: number + 2 }))
  expect((await requestsOn(number + 2)).map(({ once }) => once)).toEqual([`labeled:${id}`])
}, 120_000)

test('a label whose webhook comes before GitHub shows it is polled until it does', async () => {
  issue('ada', 'It breaks.')
  const events_request = github.requestOf(EVENTS)
  await notify('issues', labeledBy('ada', 'agent-bot', { number }))
  await events_request
  label('ada', true)
  await expect.poll(async () => (await requestsOn()).length, { timeout: 30_000 }).toBe(1)
}, 60_000)

test('requests of users without write access, of bots, edited ones, old ones and those before the connection existed are ignored', async () => {
  const on = (n: number) => number + n
  issue('mallory', '@agent-bot go', { of: on(0) })
  issue('ada', 'It breaks.', { of: on(1) })
  label('eve', true, { of: on(1) })
  issue('ci[bot]', '@agent-bot go', { of: on(2) })
  label('ci[bot]', true, { of: on(2) })
  issue('ada', '@agent-bot go', { of: on(3), at: ago(60), edited_at: ago(30) })
  issue('ada', '@agent-bot go', { of: on(4), at: ago(90_000) })
  label('ada', true, { of: on(4), at: ago(90_000) })
  github.state.comments.push({
    id: 80,
    number: on(4),
    user: 'ada',
    body: 'nobody is meant',
    created_at: ago(0),
  })
  await poll()
  const found = []
  for (const n of [0, 1, 2, 3, 4]) found.push(await requestsOn(on(n)))
  expect(found).toEqual([
    [{ once: `issues:${900 + on(0)}`, outcome: 'mallory may not write there (none)', run_id: null }],
    [{ once: expect.stringMatching(/^labeled:/), outcome: 'eve may not write there (read)', run_id: null }],
    ...[[], [], []],
  ])
  await rows(app, 'update repositories set mentions_since = now() where id = $1', [repo_id])
  issue('ada', '@agent-bot go', { of: on(5), at: ago(60) })
  await poll()
  expect(await requestsOn(on(5))).toEqual([])
  await rows(app, `update repositories set mentions_since = now() - interval '1 year' where id = $1`, [
    repo_id,
  ])
}, 90_000)

test('the pull request of a run requests nothing, regardless of its text; another one of the same account does', async () => {
  const of_run = 'agent/run-1-x'
  github.state.permissions.set('agent-bot', 'write')
  const { id: run_id } = await createRun(app, { prompt: 'x', repo_id })
  await rows(app, 'update runs set branch = $2 where id = $1', [run_id, of_run])
  for (const [n, head] of [of_run, 'main'].entries()) {
    pull(number + n)
    Object.assign(github.state.pulls.at(-1) ?? {}, {
      user: 'agent-bot',
      head,
      body: 'As @agent-bot was asked',
      created_at: ago(0),
    })
  }
  await poll()
  expect([await requestsOn(number), await requestsOn(number + 1)]).toMatchObject([
    [{ outcome: 'it is a pull request of ours', run_id: null }],
    [{ outcome: expect.stringMatching(/^started run/) }],
  ])
}, 60_000)

test('what a poll misses, because GitHub fails midway or there is too much, the next one finds; a poll without changes is one request', async () => {
  forget()
  await poll()
  for (let i = 0; i < 70; i++) issue('ada', 'It breaks.', { of: 2_000 + i, at: ago(200 - i) })
  issue('ada', '@agent-bot first', { of: number, at: ago(250) })
  issue('ada', '@agent-bot last', { of: number + 1, at: ago(100) })
  github.play('POST /graphql', { kind: 'after', work: () => {} }, { kind: 'status', status: 502 })
  await poll()
  expect([(await requestsOn(number)).length, await requestsOn(number + 1)]).toEqual([1, []])
  await poll()
  expect(await requestsOn(number + 1)).toEqual([])
  await poll()
  expect((await requestsOn(number + 1)).length).toBe(1)

  forget()
  github.requests.length = 0
  await poll()
  expect([
    github.count(CHANGED),
    github.count(REVIEWS),
    github.requests.filter(({ name }) => name.includes('events')).length,
  ]).toEqual([1, 0, 0])
}, 120_000)

test.each([404, 403, 422])(
  'an issue to which GitHub responds with %i blocks no other request',
  async status => {
    forget()
    issue('ada', '@agent-bot go', { of: number, at: ago(20) })
    issue('ada', '@agent-bot go', { of: number + 1, at: ago(10) })
    github.play('GET /repos/{owner}/{repo}/issues/{issue_number}', { kind: 'status', status })
    await poll()
    expect([await requestsOn(number), (await requestsOn(number + 1)).length]).toEqual([[], 1])
  },
  60_000,
)

test('an issue that fails is retried, and those after it wait for it', async () => {
  forget()
  for (const n of [0, 1, 2]) issue('ada', '@agent-bot go', { of: number + n, at: ago(30 - n) })
  github.play(
    'GET /repos/{owner}/{repo}/issues/{issue_number}',
    { kind: 'after', work: () => {} },
    { kind: 'status', status: 502 },
  )
  await poll()
  const found = async () => [
    (await requestsOn(number)).length,
    (await requestsOn(number + 1)).length,
    (await requestsOn(number + 2)).length,
  ]
  expect(await found()).toEqual([1, 0, 1])
  await poll()
  expect(await found()).toEqual([1, 1, 1])
}, 60_000)
