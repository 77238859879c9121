import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliver, SECRET } from '../../forge/deliver.ts'
import { type FakeGitea, startFakeGitea } from '../../forge/fake-gitea.ts'
import { issueBy, labeledBy, reviewBy } from '../../forge/gitea-payloads.ts'
import { pollNow, requestsOn } from '../../forge/poll.ts'
import { type App, rows, startApp } from '../../start-app.ts'

/** What people request on Gitea, and a poll of it. No worker processes the resulting runs. */
let app: App
let gitea: FakeGitea
let hook: string
let repo_id: number
beforeAll(async () => {
  gitea = await startFakeGitea()
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  const at = `/v1/organizations/${app.org_id}`
  hook = (
    await app.call('PUT', `${at}/integrations/gitea`, {
      url: gitea.url,
      token: gitea.token,
      webhook_secret: SECRET,
    })
  ).body.webhook_url
  repo_id = (await app.call('POST', `${at}/repos`, { url: `${gitea.url}/acme/app.git` })).body.id
  gitea.state.permissions.set('ada', 'write').set('eve', 'read')
  await rows(app, `update repositories set mentions_since = now() - interval '1 year'`)
  await rows(app, `update forges set connected_at = now() - interval '1 year'`)
})
afterAll(async () => {
  expect(gitea.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await gitea[Symbol.asyncDispose]()
})

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()
const issue = (number: number, body = 'It breaks.', at = ago(0)) =>
  gitea.state.issues.push({ number, user: 'ada', title: 'It is broken', body, created_at: at })
const pull = (number: number, body = '') =>
  gitea.state.pulls.push({
    number,
    state: 'open',
    draft: false,
    merged_sha: null,
    title: 'One',
    body,
    head: 'main',
    base: 'main',
    user: 'ada',
    created_at: ago(60),
  })
let id = 100
const label = (number: number, user: string, given: boolean) =>
  gitea.state.labelings.push({ id: ++id, number, user, label: 'agent-bot', given, at: ago(0) })
const notify = async (event: string, payload: unknown) =>
  (await deliver(hook, event, payload, { as: 'gitea' })).body
const onces = async (number: number) => (await requestsOn(app, number)).map(({ once }) => once)

test('a request without a webhook is found by polling: an opening, a label, a review, a comment; a late webhook changes nothing', async () => {
  issue(1, '@agent-bot please')
  pull(2, '@agent-bot, look')
  issue(3)
  label(3, 'ada', true)
  pull(4)
  gitea.state.reviews.push({
    id: 71,
    number: 4,
    user: 'ada',
    body: '@agent-bot: not yet',
    submitted_at: ago(2),
  })
  gitea.state.remarks.push({
    id: 72,
    number: 4,
    review_id: 71,
    user: 'ada',
    body: '@agent-bot why?',
    created_at: ago(90),
  })
  await pollNow(app, repo_id)
  const all = async () => [
    await requestsOn(app, 1),
    await requestsOn(app, 2),
    await requestsOn(app, 3),
    await requestsOn(app, 4),
  ]
  const found = await all()
  expect(found.map(of => of.map(({ once }) => once))).toEqual([
    ['issues:901'],
    ['pull_request:1002'],
    [`labeled:${id}`],
    ['pull_request_review:71', 'pull_request_review_comment:72'],
  ])
  expect(found.flat().every(({ run_id }) => run_id !== null)).toBe(true)
  expect(new Set(found.flat().map(({ run_id }) => run_id)).size).toBe(4)
  expect(await notify('issues', issueBy('ada', '@agent-bot please', 1))).toMatchObject({ duplicate: true })
  expect(await notify('issues', labeledBy('ada', 'agent-bot', true, 3))).toMatchObject({ queued: true })
  expect(
    await notify('pull_request_review_comment', reviewBy('ada', '@agent-bot: not yet', 4)),
  ).toMatchObject({ queued: true })
  await pollNow(app, repo_id)
  expect(await all()).toEqual(found)
}, 90_000)

test('what a webhook reported first, in any version, is not repeated by a poll; a label that is added again requests again', async () => {
  for (const [number, added] of [
    [11, true],
    [12, false],
  ] as const) {
    issue(number)
    label(number, 'ada', true)
    const first = id
    await notify('issues', labeledBy('ada', 'agent-bot', added, number))
    expect(await onces(number)).toEqual([`labeled:${first}`])
    label(number, 'ada', false)
    label(number, 'ada', true)
    await pollNow(app, repo_id)
    expect(await onces(number)).toEqual([`labeled:${first}`, `labeled:${id}`])
    await notify('issues', { ...labeledBy('ada', 'agent-bot', added, number), commit_id: 'x' })
    expect(await onces(number)).toHaveLength(2)
  }
  pull(13)
  gitea.state.reviews.push({ id: 73, number: 13, user: 'ada', body: '@agent-bot: no', submitted_at: ago(0) })
  await notify('pull_request_review_comment', reviewBy('ada', '@agent-bot: no', 13))
  expect(await onces(13)).toEqual(['pull_request_review:73'])
  await pollNow(app, repo_id)
  expect(await onces(13)).toHaveLength(1)
}, 120_000)

test('requests of users without write access and of bots are ignored', async () => {
  issue(21)
  label(21, 'eve', true)
  issue(22)
  label(22, 'gitea-actions', true)
  await pollNow(app, repo_id)
  expect(await requestsOn(app, 21)).toEqual([
    { once: `labeled:${id - 1}`, outcome: 'eve may not write there (read)', run_id: null },
  ])
  expect(await requestsOn(app, 22)).toEqual([])
}, 60_000)

test('changes at a server whose clock is late are found by the time of that server', async () => {
  gitea.state.clock = ago(600)
  await pollNow(app, repo_id)
  issue(31, '@agent-bot please', ago(595))
  await pollNow(app, repo_id)
  expect(await onces(31)).toEqual(['issues:931'])
}, 60_000)

test('a poll makes progress where many issues have changed within seconds', async () => {
  gitea.state.clock = null
  gitea.set.most_per_page = 1
  for (let number = 101; number <= 160; number++) issue(number, 'It breaks.', ago(3_600 - (number % 3)))
  issue(161, '@agent-bot please', ago(3_590))
  await rows(
    app,
    `update repositories
      set forge_seen_until = now() - interval '3605 seconds'
      where id = $1`,
    [repo_id],
  )
  for (let polls = 0; polls < 20 && (await onces(161)).length === 0; polls++) await pollNow(app, repo_id)
  expect(await onces(161)).toEqual(['issues:1061'])
}, 180_000)

test('a forge that is connected again repeats no earlier request', async () => {
  gitea.set.most_per_page = 50
  for (const all of [gitea.state.issues, gitea.state.pulls, gitea.state.labelings]) all.length = 0
  issue(41, '@agent-bot please', ago(60))
  await pollNow(app, repo_id)
  expect(await onces(41)).toEqual(['issues:941'])
  const at = `/v1/organizations/${app.org_id}/integrations/gitea`
  expect((await app.call('DELETE', `${at}?url=${encodeURIComponent(gitea.url)}`)).status).toBeLessThan(300)
  await app.call('PUT', at, { url: gitea.url, token: gitea.token })
  issue(42, '@agent-bot please')
  await rows(
    app,
    `update repositories
    set forge_seen_until = now() - interval '1 day'
    where id = $1`,
    [repo_id],
  )
  await pollNow(app, repo_id)
  expect([await onces(41), await onces(42)]).toEqual([[], ['issues:942']])
}, 60_000)
