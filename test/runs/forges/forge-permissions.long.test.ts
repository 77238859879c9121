import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ForgeConnection } from '../../../src/contract/repositories/forges.ts'
import { connectFake } from '../../forge/connect.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../coding-app.ts'

const RUNS = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'
const WORKFLOWS = 'GET /repos/{owner}/{repo}/actions/runs'
const STATUSES = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses'
const MARK = 'POST /repos/{owner}/{repo}/statuses/{sha}'

/**
 * A connection whose credentials lack a permission: readable data is read, and the missing permissions are
 * shown.
 */
let app: CodingApp
let github: FakeGitHub
let repo_id: number
beforeAll(async () => {
  app = await startCodingApp(
    ({ body }) =>
      (body.messages as { role: string }[]).at(-1)?.role === 'tool'
        ? { text: 'Written.' }
        : calls(shell('date +%s%N > made.txt')),
    { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_CI_FIRST_SECONDS: '0' },
  )
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(async () => {
  github = await startFakeGitHub()
  repo_id = await connectFake(app, github)
})
afterEach(async () => {
  expect(github.mistakes).toEqual([])
  await app.call('DELETE', at(`/integrations/github?url=${encodeURIComponent(github.url)}`))
  await github[Symbol.asyncDispose]()
})

const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
const missing = async () => {
  const { integrations } = (await app.call('GET', at('/integrations'))).body
  const [{ metadata, active }] = integrations
  expect(active).toBe(true)
  return ForgeConnection.shape.missing_permissions.parse(metadata.missing_permissions)
}
async function runToEnd() {
  const { id } = await createRun(app, { prompt: 'write', repo_id })
  const run = await awaitEnd(app, id)
  expect(run, JSON.stringify(run.error)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ number: expect.any(Number) }],
  })
  const [{ id: pr_id }] = run.github_pull_requests
  const checks = (await app.call('GET', at(`/prs/${pr_id}/checks`))).body
  expect((await app.call('GET', at(`/prs/${pr_id}`))).body.checks.unreadable).toEqual(checks.unreadable)
  expect((await app.call('GET', at(`/prs?agent_run_id=${id}`))).body.items[0].checks.unreadable).toEqual(
    checks.unreadable,
  )
  return { run, checks }
}

test('checks that are not readable are reported by the run, its pull request and the connection, once, until the credentials change', async () => {
  for (const name of [RUNS, WORKFLOWS, STATUSES]) github.state.refused.add(name)
  const { run, checks } = await runToEnd()
  const note =
    'Checks: none is known. Not readable: check runs and commit statuses, because the connection to the forge lacks a permission; the page Forges shows which.'
  expect(run.result).toBe(`Written.\n\n${note}`)
  const final = (await allLogs(app, run.id)).filter(entry => JSON.stringify(entry).includes('Not readable'))
  expect(final).toHaveLength(1)
  expect(checks).toMatchObject({ state: 'none', unreadable: ['check_runs', 'commit_statuses'] })
  const detail = 'GitHub responded with 403: Resource not accessible by personal access token'
  const unreadable = async () => (await missing()).filter(({ resource }) => resource !== 'run_status')
  expect(await unreadable()).toMatchObject([
    { resource: 'check_runs', fix: expect.stringContaining('"Actions: read"'), detail, repo_ids: [repo_id] },
    {
      resource: 'commit_statuses',
      fix: expect.stringContaining('"Commit statuses: write"'),
      detail,
      repo_ids: [repo_id],
    },
  ])
  await connectFake(app, github)
  expect(await unreadable()).toEqual([])
  github.state.refused.clear()
  const { run: next, checks: readable } = await runToEnd()
  expect([next.result, readable.unreadable, await unreadable()]).toEqual(['Written.', [], []])
}, 60_000)

test('a fine-grained token reads GitHub Actions by its workflow runs: they are checks of its pull request, and only other apps are missing', async () => {
  github.state.refused.add(RUNS)
  const { run } = await runToEnd()
  const [{ id: pr_id, head_sha: sha }] = run.github_pull_requests
  github.state.workflow_runs.push({ sha, name: 'CI', status: 'completed', conclusion: 'success' })
  await rows(
    app,
    `update pull_requests
    set remote_seen_at = now() - interval '1 hour'
    where run_id = $1`,
    [run.id],
  )
  const checks = async () => (await app.call('GET', at(`/prs/${pr_id}/checks`))).body
  await expect.poll(async () => (await checks()).items.length, { timeout: 30_000 }).toBe(1)
  expect(await checks()).toMatchObject({
    state: 'success',
    unreadable: ['app_check_runs'],
    items: [{ name: 'CI', app: 'github-actions', source: 'github', conclusion: 'success' }],
  })
  expect(await missing()).toMatchObject([{ resource: 'app_check_runs', repo_ids: [repo_id] }])
}, 60_000)

test('a status that cannot be written for lack of a permission is reported on the connection, and no run waits for it', async () => {
  github.state.refused.add(MARK)
  const { run } = await runToEnd()
  expect(run.result).toBe('Written.')
  await expect
    .poll(missing, { timeout: 30_000 })
    .toMatchObject([{ resource: 'run_status', repo_ids: [repo_id] }])
}, 60_000)
