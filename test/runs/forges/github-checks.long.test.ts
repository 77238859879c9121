// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import examples from '@octokit/webhooks-examples' with { type: 'json' }
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectFake } from '../../forge/connect.ts'
import { deliver, SECRET } from '../../forge/deliver.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../coding-app.ts'

const RUNS = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'

let app: CodingApp
let github: FakeGitHub
let repo_id: number
let beforeFix = async () => {}
beforeAll(async () => {
  app = await startCodingApp(
    // Every round writes a new file, except for a run that must not fix anything.
    async ({ body }) => {
      const messages = body.messages as { role: string }[]
      if (messages.at(-1)?.role === 'tool') return { text: 'Written.' }
      const reported = JSON.stringify(messages)
      if (!reported.includes('do not fix') || !reported.includes('Fix it: attempt'))
        return calls(shell('date +%s%N > made.txt'))
      await beforeFix()
      return { text: 'Not mine.' }
    },
    { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_CI_POLL_SECONDS: '1' },
  )
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(async () => {
  github = await startFakeGitHub()
  repo_id = await connectFake(app, github)
})
afterEach(async () => {
  expect(github.mistakes).toEqual([])
  await app.call(
    'DELETE',
    `/v1/organizations/${app.org_id}/integrations/github?url=${encodeURIComponent(github.url)}`,
  )
  await github[Symbol.asyncDispose]()
})

const start = async () => (await createRun(app, { prompt: 'write', repo_id })).id as number
/** The head of the run's pull request once it waits for checks of a commit that is not `before`. */
const waitsFor = async (id: number, before = '') => {
  const run = await awaitRun(
    app,
    id,
    ({ status, waiting_on, github_pull_requests: [pr] }) =>
      status === 'waiting' && waiting_on === 'ci' && pr?.head_sha !== before,
  )
  return run.github_pull_requests[0].head_sha as string
}
const setCheck = (sha: string, conclusion: string | null, summary = '') => {
  const check: any = {
    sha,
    name: 'build',
    app: 'github-actions',
    status: conclusion === null ? 'in_progress' : 'completed',
  }
  github.state.checks = [
    ...github.state.checks.filter(one => one.sha !== sha),
    { ...check, conclusion, summary },
  ]
}
const entriesOf = async (id: number, type: string): Promise<any[]> =>
  (await allLogs(app, id)).filter(entry => entry.message_type === type).map(entry => entry.observation)

test('checks of GitHub are found without a webhook, awaited, fixed when they fail, and awaited again', async () => {
  const id = await start()
  const first = await waitsFor(id)
  setCheck(first, null)
  await expect
    .poll(
      async () =>
        (await rows(app, `select 1 from checks where head_sha = $1 and status = 'in_progress'`, [first]))
          .length,
      {
        timeout: 30_000,
      },
    )
    .toBe(1)
  setCheck(first, 'failure', 'two tests failed')
  const second = await waitsFor(id, first)
  expect(await entriesOf(id, 'DETECT_PR_ERRORS')).toMatchObject([
    {
      pr_number: 100,
      head_sha: first,
      checks: [{ name: 'build', conclusion: 'failure', log_excerpt: 'build\n\ntwo tests failed' }],
    },
  ])
  setCheck(second, 'success')
  const run = await awaitEnd(app, id)
  expect(run.result).toMatch(
    /^Written\.\n\nChecks: the one check of commit [0-9a-f]{12} passed, after one attempt/,
  )
  expect(await entriesOf(id, 'FIX_PR_ERRORS')).toMatchObject([
    { from_sha: first, to_sha: second, fixed_checks: ['build'] },
  ])
  const { body } = await app.call(
    'GET',
    `/v1/organizations/${app.org_id}/prs/${run.github_pull_requests[0].id}/checks?head_sha=${first}`,
  )
  // The status of the run itself is next to the checks and does not count as one.
  const marks = (sha: string) =>
    github.state.statuses.filter(one => one.sha === sha).map(({ context, state }) => [context, state])
  await expect
    .poll(() => [first, second].map(sha => marks(sha).at(-1)), { timeout: 30_000 })
    .toEqual([
      ['agentrun', 'success'],
      ['agentrun', 'success'],
    ])
  expect(marks(first)[0]).toEqual(['agentrun', 'pending'])
  expect(body.items).toMatchObject([
    { source: 'github', app: 'github-actions', url: expect.stringContaining(github.url), attempt: 1 },
  ])
}, 60_000)

test('without a check the answer is final after the wait for a first one; an unavailable forge is retried', async () => {
  github.play(
    RUNS,
    { kind: 'status', status: 500 },
    { kind: 'hang_up', when: 'before' },
    { kind: 'primary_limit', seconds: 1 },
  )
  const id = await start()
  await waitsFor(id)
  await expect.poll(() => github.count(RUNS), { timeout: 20_000 }).toBeGreaterThan(4)
  await rows(
    app,
    `update journal
      set created_at = created_at - interval '1 hour'
      where run_id = $1 and kind = 'push_started'`,
    [id],
  )
  await rows(app, 'update runs set deadline_at = now() where id = $1', [id])
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Written.' })
}, 60_000)

test('a run does not wait for checks of a closed pull request', async () => {
  const id = await start()
  const head = await waitsFor(id)
  setCheck(head, null)
  await expect
    .poll(async () => (await rows(app, 'select 1 from checks where head_sha = $1', [head])).length, {
      timeout: 30_000,
    })
    .toBe(1)
  const [{ id: pr_id }] = (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body
    .github_pull_requests
  expect(
    (await app.call('PATCH', `/v1/organizations/${app.org_id}/prs/${pr_id}`, { state: 'closed' })).body,
  ).toMatchObject({
    success: true,
  })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Written.' })
}, 60_000)

test('a turn that pushes nothing waits no longer for checks than one that pushes, regardless of how often it is woken', async () => {
  const { id } = await createRun(app, { prompt: 'write, and do not fix', repo_id })
  const head = await waitsFor(id)
  setCheck(head, 'success')
  await awaitEnd(app, id)
  const late = { sha: head, name: 'late', app: 'slow-app', conclusion: null, summary: '' }
  github.state.checks.push({ ...late, status: 'completed', conclusion: 'failure' })
  const requested = Promise.withResolvers<void>()
  const again = Promise.withResolvers<void>()
  beforeFix = async () => {
    requested.resolve()
    await again.promise
  }
  await rows(
    app,
    `update pull_requests
    set remote_seen_at = now() - interval '1 hour'
    where run_id = $1`,
    [id],
  )
  await requested.promise
  github.state.checks = [{ ...late, status: 'in_progress' }]
  again.resolve()
  await awaitRun(
    app,
    id,
    ({ turn, status, waiting_on }) => turn === 2 && status === 'waiting' && waiting_on === 'ci',
  )
  await rows(
    app,
    `update runs
      set deadline_at = now(), turn_started_at = turn_started_at - interval '1 hour'
      where id = $1`,
    [id],
  )
  const run = await awaitRun(app, id, ({ terminal, turn }) => terminal && turn === 2)
  expect(run.result).toMatch(/^Not mine\.\n\n.*because checks were waited for as long as the service does\.$/)
}, 60_000)

test('a check that fails after the run has ended starts a turn, once: it is fixed there, and a run that has given up stays ended', async () => {
  const set = { url: github.url, token: github.token, webhook_secret: SECRET }
  const { body } = await app.call('PUT', `/v1/organizations/${app.org_id}/integrations/github`, set)
  const recorded = examples as unknown as { name: string; examples: any[] }[]
  const notify = (head_sha: string) => {
    const payload = structuredClone(
      recorded
        .find(({ name }) => name === 'check_run')
        ?.examples.find(({ action }) => action === 'completed'),
    )
    Object.assign(payload.repository, { name: 'app', full_name: 'acme/app' })
    payload.repository.owner.login = 'acme'
    payload.check_run.head_sha = head_sha
    return deliver(body.webhook_url, 'check_run', payload)
  }
  await app.call('PUT', `/v1/organizations/${app.org_id}/repos/check-suite-settings?repo_id=${repo_id}`, {
    check_retry_count: 1,
  })
  const id = await start()
  const first = await waitsFor(id)
  setCheck(first, 'success')
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', turn: 1 })
  github.state.checks.push({
    sha: first,
    name: 'late',
    app: 'slow-app',
    status: 'completed',
    conclusion: 'failure',
    summary: 'at last',
  })
  expect((await notify(first)).status).toBe(200)
  const second = await waitsFor(id, first)
  setCheck(second, 'failure')
  const run = await awaitRun(app, id, ({ terminal, turn }) => terminal && turn === 2)
  expect(run.result).toContain('did not leave fewer of them.')
  const logs = (await allLogs(app, id)).filter(entry => entry.turn === 2)
  expect(logs[0]).toMatchObject({
    message_type: 'USER_MESSAGE',
    observation: { source_type: 'GITHUB_CHECK_SUITE', user_id: null },
  })
  expect(
    logs.filter(entry => entry.message_type === 'DETECT_PR_ERRORS').map(entry => entry.observation),
  ).toMatchObject([
    { head_sha: first, checks: [{ name: 'late', log_excerpt: 'late\n\nat last' }], attempt: 1 },
  ])
  expect((await notify(second)).status).toBe(200)
  await expect
    .poll(async () => (await rows(app, `select 1 from forge_deliveries where outcome is null`)).length, {
      timeout: 30_000,
    })
    .toBe(0)
  expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body).toMatchObject({
    status: 'completed',
    turn: 2,
  })
}, 60_000)
