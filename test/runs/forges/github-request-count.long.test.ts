import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectFake } from '../../forge/connect.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { rows } from '../../start-app.ts'
import { awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../coding-app.ts'

const RUNS = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'
const MENTIONS = 'GET /repos/{owner}/{repo}/issues'

/** All requests of an account share a rate limit: a run uses little of it. */
let app: CodingApp
let github: FakeGitHub
beforeAll(async () => {
  app = await startCodingApp(
    ({ body }) =>
      (body.messages as { role: string }[]).at(-1)?.role === 'tool'
        ? { text: 'Written.' }
        : calls(shell('date +%s%N > made.txt')),
    { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_CI_POLL_SECONDS: '1' },
  )
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(async () => {
  github = await startFakeGitHub()
})
afterEach(async () => {
  expect(github.mistakes).toEqual([])
  await app.call(
    'DELETE',
    `/v1/organizations/${app.org_id}/integrations/github?url=${encodeURIComponent(github.url)}`,
  )
  await github[Symbol.asyncDispose]()
})

test.each(['token', 'app'] as const)(
  'a run with a pull request and checks makes at most 12 requests that count, connected by: %s',
  async as => {
    const repo_id = await connectFake(app, github, as)
    // The poll for mentions is of the repository and not of a run; by it an app has its token, which lasts an
    // hour.
    await expect
      .poll(() => github.requests.some(({ name, status }) => name === MENTIONS && status === 200), {
        timeout: 30_000,
      })
      .toBe(true)
    github.requests.length = 0
    const { id } = await createRun(app, { prompt: 'write', repo_id })
    const waiting = await awaitRun(
      app,
      id,
      ({ status, waiting_on }) => status === 'waiting' && waiting_on === 'ci',
    )
    const [{ head_sha: sha }] = waiting.github_pull_requests
    const setCheck = (status: 'in_progress' | 'completed', conclusion: string | null) => {
      const others = github.state.checks.filter(check => check.made !== undefined)
      github.state.checks = [
        ...others,
        { sha, name: 'build', app: 'github-actions', status, conclusion, summary: '' },
      ]
    }
    const unchanged = () =>
      github.requests.filter(({ name, status }) => name === RUNS && status === 304).length
    await expect.poll(unchanged, { timeout: 30_000 }).toBeGreaterThan(1)
    setCheck('in_progress', null)
    const pending = () =>
      rows(app, `select 1 from checks where head_sha = $1 and status = 'in_progress'`, [sha])
    await expect.poll(async () => (await pending()).length, { timeout: 30_000 }).toBe(1)
    setCheck('completed', 'success')
    await awaitEnd(app, id)
    const marked = () => [
      ...github.state.statuses.filter(({ context, state }) => context === 'agentrun' && state === 'success'),
      ...github.state.checks.filter(
        ({ name, conclusion }) => name === 'agentrun' && conclusion === 'success',
      ),
    ]
    await expect.poll(() => marked().length, { timeout: 30_000 }).toBe(1)
    expect(github.state.pulls).toMatchObject([{ number: 100, draft: false }])
    const charged = github.charged().filter(name => name !== MENTIONS)
    expect(charged.length, charged.join('\n')).toBeLessThanOrEqual(12)
  },
  60_000,
)
