import { expect, test } from 'vitest'
import { markKey } from '../../src/core/forges/run-mark.ts'
import { gitIn } from '../runs/coding-app.ts'
import { githubForEachTest, pull, repo } from './github-for-each-test.ts'

const { fake, byToken, byApp } = githubForEachTest()

test('a pull request is created, found by its branch, changed, converted to a draft and back, closed and reopened', async () => {
  const forge = byToken()
  expect(await forge.findPullRequest(repo, 'one')).toBeNull()
  const made = await forge.createPullRequest(repo, pull)
  expect(made).toMatchObject({
    number: 100,
    state: 'open',
    head_branch: 'one',
    base_branch: 'main',
    url: `${fake().url}/acme/app/pull/100`,
  })
  expect(await forge.findPullRequest(repo, 'one')).toMatchObject({ number: 100, title: 'One' })
  expect(await forge.updatePullRequest(repo, 100, { title: 'x'.repeat(300), body: 'b' })).toMatchObject({
    title: `${'x'.repeat(255)}…`,
    body: 'b',
  })
  await forge.setDraft(repo, await forge.getPullRequest(repo, 100), true)
  expect(await forge.getPullRequest(repo, 100)).toMatchObject({ state: 'draft', mergeable: 'clean' })
  await forge.setDraft(repo, await forge.getPullRequest(repo, 100), false)
  expect(await forge.updatePullRequest(repo, 100, { state: 'closed' })).toMatchObject({ state: 'closed' })
  expect(await forge.updatePullRequest(repo, 100, { state: 'open' })).toMatchObject({ state: 'open' })
})

test('a second pull request of an open branch is refused, and what is found is the open one before newer ones', async () => {
  const forge = byToken()
  await forge.createPullRequest(repo, pull)
  await expect(forge.createPullRequest(repo, pull)).rejects.toMatchObject({
    code: 'refused',
    http_status: 422,
    retryable: false,
    message: 'GitHub responded with 422: Validation Failed; A pull request already exists for acme:one.',
  })
  const again = await forge.createPullRequest(repo, { ...pull, base_branch: 'two' })
  await forge.updatePullRequest(repo, again.number, { state: 'closed' })
  expect((await forge.findPullRequest(repo, 'one'))?.number).toBe(100)
})

test('where drafts are not supported it is created without', async () => {
  fake().state.drafts_allowed = false
  expect(await byToken().createPullRequest(repo, { ...pull, draft: true })).toMatchObject({ state: 'open' })
})

test('a merge names the head that was read, and returns the merge commit', async () => {
  const forge = byToken()
  const { head_sha } = await forge.createPullRequest(repo, pull)
  const input = { method: 'merge', head_sha, message: 'Merge it\n\nAgent-Run: x' } as const
  await expect(
    forge.mergePullRequest(repo, 100, { ...input, head_sha: 'f'.repeat(40) }),
  ).rejects.toMatchObject({
    code: 'conflict',
    http_status: 409,
  })
  const { merge_sha } = await forge.mergePullRequest(repo, 100, input)
  expect(gitIn(fake().folder, 'rev-parse', 'main').trim()).toBe(merge_sha)
  expect(await forge.getPullRequest(repo, 100)).toMatchObject({ state: 'merged', merge_sha })
  await expect(forge.mergePullRequest(repo, 100, input)).rejects.toMatchObject({
    code: 'conflict',
    http_status: 405,
  })
})

/** Nothing of it is missing: its end explains a failure, and half a secret would not be redacted. */
const SUMMARY = `${'ok\n'.repeat(5_000)}2 failed`

test('checks are check runs and statuses together, in the same words', async () => {
  const sha = fake().state.sha('one') ?? ''
  fake().state.checks.push(
    {
      sha,
      name: 'unit',
      app: 'github-actions',
      status: 'completed',
      conclusion: 'failure',
      summary: SUMMARY,
    },
    { sha, name: 'lint', app: 'github-actions', status: 'in_progress', conclusion: null, summary: '' },
  )
  fake().state.statuses.push(
    { sha, context: 'ci/deploy', state: 'error', description: 'no' },
    { sha, context: 'ci/slow', state: 'pending', description: '' },
  )
  expect((await byToken().listChecks(repo, sha)).checks).toMatchObject([
    {
      name: 'unit',
      app: 'github-actions',
      status: 'completed',
      conclusion: 'failure',
      log_excerpt: `unit\n\n${SUMMARY}`,
    },
    { name: 'lint', status: 'in_progress', conclusion: null },
    { name: 'ci/slow', status: 'in_progress', conclusion: null },
    { name: 'ci/deploy', app: null, status: 'completed', conclusion: 'failure', log_excerpt: 'no' },
  ])
})

const RUNS = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'
const WORKFLOWS = 'GET /repos/{owner}/{repo}/actions/runs'
const STATUSES = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses'

test('a mark whose state is known is written without reading it, and one that another process wrote since is read', async () => {
  const sha = fake().state.sha('one') ?? ''
  const [one, other] = [byApp(), byApp()]
  await one.markCommit(repo, sha, { ...at_work, before: null })
  await one.markCommit(repo, sha, { ...at_work, title: 'Paused', before: markKey(at_work) })
  expect(fake().count(RUNS)).toBe(0)
  await other.markCommit(repo, sha, { ...at_work, before: markKey({ ...at_work, title: 'Paused' }) })
  expect(fake().count(RUNS)).toBe(1)
  await one.markCommit(repo, sha, { ...at_work, title: 'Stopping', before: markKey(at_work) })
  expect(fake().count(RUNS)).toBe(2)
  expect(fake().state.checks.map(({ made }) => made?.title)).toEqual(['Stopping'])
})

test('where check runs are refused, statuses and the workflow runs of GitHub Actions are read, and the gap is reported', async () => {
  const sha = fake().state.sha('one') ?? ''
  fake().state.refused.add(RUNS)
  fake().state.statuses.push({ sha, context: 'ci/deploy', state: 'success', description: '' })
  const run = { sha, name: 'CI', status: 'completed' } as const
  fake().state.workflow_runs.push(
    { ...run, conclusion: 'failure' },
    { ...run, conclusion: 'success' },
    { ...run, name: 'Lint', workflow_id: 2, status: 'queued', conclusion: null },
    { ...run, sha: fake().state.sha('two') ?? '', name: 'Other', workflow_id: 3, conclusion: 'failure' },
  )
  const forge = byToken()
  for (let polls = 0; polls < 3; polls++)
    expect(await forge.listChecks(repo, sha)).toMatchObject({
      checks: [
        { name: 'Lint', app: 'github-actions', status: 'queued', conclusion: null, completed_at: null },
        {
          name: 'CI',
          status: 'completed',
          conclusion: 'success',
          url: `${fake().url}/acme/app/actions/runs/2`,
        },
        { name: 'ci/deploy', conclusion: 'success' },
      ],
      gaps: [
        {
          resource: 'app_check_runs',
          detail: 'GitHub responded with 403: Resource not accessible by personal access token',
        },
      ],
    })
  // What was refused is not requested again on every poll; other credentials are tried.
  expect(fake().count(RUNS)).toBe(1)
  fake().state.refused.clear()
  expect(await byToken().listChecks(repo, sha)).toMatchObject({ checks: [{ name: 'ci/deploy' }], gaps: [] })
})

test('a refusal for lack of a permission is a gap; a rate limit, an error and a missing repository are not', async () => {
  const sha = fake().state.sha('one') ?? ''
  for (const name of [RUNS, WORKFLOWS, STATUSES]) fake().state.refused.add(name)
  expect(await byToken().listChecks(repo, sha)).toMatchObject({
    checks: [],
    gaps: [{ resource: 'check_runs' }, { resource: 'commit_statuses' }],
  })
  fake().state.refused.clear()
  fake().play(RUNS, { kind: 'secondary_limit', seconds: 1 }, { kind: 'status', status: 500 })
  for (const code of ['rate_limited', 'server_error'])
    await expect(byToken().listChecks(repo, sha)).rejects.toMatchObject({ code })
  await expect(byToken().listChecks({ ...repo, name: 'none' }, sha)).rejects.toMatchObject({
    code: 'not_found',
  })
})

const at_work = {
  status: 'in_progress',
  conclusion: null,
  title: 'Running',
  external_id: '7',
  url: 'https://x/7',
  summary: 'words',
} as const
const ended = { ...at_work, status: 'completed', conclusion: 'success', title: 'Completed' } as const

test('the state of a run is one check run, despite lost responses, another one when the run continues, and never a check', async () => {
  const sha = fake().state.sha('one') ?? ''
  const [write, change] = [
    'POST /repos/{owner}/{repo}/check-runs',
    'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
  ]
  const checkRuns = () =>
    fake().state.checks.map(({ name, status, conclusion, made }) => [
      name,
      status,
      conclusion,
      made?.external_id,
    ])
  fake().state.checks.push({
    sha,
    name: 'agentrun',
    app: 'another-app',
    status: 'in_progress',
    conclusion: null,
    summary: '',
  })
  for (const [mark, of] of [
    [at_work, write],
    [ended, change],
  ] as const) {
    fake().play(of, { kind: 'hang_up', when: 'after' })
    await expect(byApp().markCommit(repo, sha, mark)).rejects.toMatchObject({ code: 'unreachable' })
    await byApp().markCommit(repo, sha, mark)
    expect([fake().count(write), fake().count(change)]).toEqual(mark === at_work ? [1, 0] : [1, 1])
  }
  await byApp().markCommit(repo, sha, { ...at_work, external_id: '8' })
  await byApp().markCommit(repo, sha, at_work)
  expect(checkRuns().slice(1)).toEqual([
    ['agentrun', 'completed', 'success', '7'],
    ['agentrun', 'in_progress', null, '8'],
    ['agentrun', 'in_progress', null, '7'],
  ])
  expect((await byApp().listChecks(repo, sha)).checks).toMatchObject([
    { name: 'agentrun', app: 'another-app' },
  ])
})

test('a token, and an app that may write no checks, post it as a status, the last of which counts', async () => {
  const sha = fake().state.sha('one') ?? ''
  fake().state.checks_allowed = false
  fake().state.statuses.push({ sha, context: 'agentrun', state: 'pending', description: 'of somebody else' })
  fake().play('POST /repos/{owner}/{repo}/statuses/{sha}', { kind: 'hang_up', when: 'after' })
  await expect(byToken().markCommit(repo, sha, at_work)).rejects.toMatchObject({ code: 'unreachable' })
  for (const mark of [
    at_work,
    at_work,
    ended,
    { ...ended, conclusion: 'cancelled', title: 'Stopped' } as const,
  ])
    await byToken().markCommit(repo, sha, mark)
  await byApp().markCommit(repo, sha, { ...ended, conclusion: 'neutral' })
  expect(
    fake()
      .state.statuses.slice(1)
      .map(({ state, description, target_url, creator }) => [state, description, target_url, creator]),
  ).toEqual([
    ['pending', 'Running', 'https://x/7', 'agent-bot'],
    ['success', 'Completed', 'https://x/7', 'agent-bot'],
    ['error', 'Stopped', 'https://x/7', 'agent-bot'],
    ['success', 'Completed', 'https://x/7', 'careful-agent[bot]'],
  ])
  fake().state.statuses.splice(
    1,
    0,
    { sha, context: 'ci', state: 'failure', description: 'no' },
    { sha, context: 'CI', state: 'success', description: 'yes' },
  )
  fake().state.statuses.pop()
  expect((await byToken().listChecks(repo, sha)).checks).toMatchObject([
    { name: 'CI', conclusion: 'success' },
  ])
  fake().state.statuses.push({ sha, context: 'agentrun', state: 'failure', description: 'of somebody else' })
  expect(
    (await byToken().listChecks(repo, sha)).checks.map(({ name, conclusion }) => [name, conclusion]),
  ).toEqual([
    ['agentrun', 'failure'],
    ['CI', 'success'],
  ])
})

test('lists are read to their end, page by page, and no further than requested', async () => {
  const forge = byToken()
  for (let i = 0; i < 230; i++) fake().state.comments.push({ id: i, number: 7, user: 'ada', body: `${i}` })
  expect((await forge.listComments(repo, 7)).map(({ id }) => id)).toEqual(
    Array.from({ length: 230 }, (_, i) => i),
  )
  expect(fake().count('GET /repos/{owner}/{repo}/issues/{issue_number}/comments')).toBe(3)
  expect(await forge.createComment(repo, 7, 'done')).toMatchObject({ author: 'agent-bot', body: 'done' })
  for (const each of [forge, byApp()]) {
    expect(await each.listRepositories(1_000)).toHaveLength(131)
    expect(await each.listRepositories(20)).toHaveLength(20)
  }
})

test('permissions are those of GitHub; a stranger has none', async () => {
  fake().state.permissions.set('ada', 'write').set('eve', 'read')
  const forge = byToken()
  const found = await Promise.all(['ada', 'eve', 'mallory'].map(login => forge.permissionOf(repo, login)))
  expect(found).toEqual(['write', 'read', 'none'])
})
