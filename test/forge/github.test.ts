import { afterEach, beforeEach, expect, test } from 'vitest'
import { markKey } from '../../src/core/forges/run-mark.ts'
import { outgoingFetch } from '../../src/egress/fetch.ts'
import { createResolver } from '../../src/egress/resolve.ts'
import { githubForge } from '../../src/forge/github/github.ts'
import type { RemoteForge } from '../../src/forge/port.ts'
import { gitIn } from '../runs/coding-app.ts'
import { type FakeGitHub, startFakeGitHub } from './fake-github.ts'

let github: FakeGitHub
beforeEach(async () => {
  github = await startFakeGitHub()
  const main = gitIn(github.folder, 'rev-parse', 'main').trim()
  const tree = gitIn(github.folder, 'rev-parse', 'main^{tree}').trim()
  for (const name of ['one', 'two']) {
    const sha = gitIn(github.folder, 'commit-tree', tree, '-p', main, '-m', name).trim()
    gitIn(github.folder, 'update-ref', `refs/heads/${name}`, sha)
  }
})
afterEach(async () => {
  expect(github.mistakes).toEqual([])
  await github[Symbol.asyncDispose]()
})

const repo = { owner: 'acme', name: 'app' }
const pull = { title: 'One', body: 'words', head_branch: 'one', base_branch: 'main', draft: false }
const outgoing = { resolve: createResolver(), allow_private: true, upstream: null }
const fetch = outgoingFetch(outgoing, { ms: 5_000, max_bytes: 8 * 1024 ** 2 })
const settings = () => ({ origin: github.url, fetch, user_agent: 'agentrun/test' })
const byToken = (): RemoteForge => githubForge({ ...settings(), credentials: { token: github.token } })
const byApp = (): RemoteForge =>
  githubForge({ ...settings(), credentials: { app_id: github.app.id, private_key: github.app.private_key, installation_id: null } })

test('a pull request is created, found by its branch, changed, converted to a draft and back, closed and reopened', async () => {
  const forge = byToken()
  expect(await forge.findPullRequest(repo, 'one')).toBeNull()
  const made = await forge.createPullRequest(repo, pull)
  expect(made).toMatchObject({
    number: 100,
    state: 'open',
    head_branch: 'one',
    base_branch: 'main',
    url: `${github.url}/acme/app/pull/100`,
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
    ...{ code: 'refused', http_status: 422, retryable: false },
    message: 'GitHub answered 422: Validation Failed; A pull request already exists for acme:one.',
  })
  const again = await forge.createPullRequest(repo, { ...pull, base_branch: 'two' })
  await forge.updatePullRequest(repo, again.number, { state: 'closed' })
  expect((await forge.findPullRequest(repo, 'one'))?.number).toBe(100)
})

test('where drafts are not supported it is created without', async () => {
  github.state.drafts_allowed = false
  expect(await byToken().createPullRequest(repo, { ...pull, draft: true })).toMatchObject({ state: 'open' })
})

test('a merge names the head that was read, and returns the merge commit', async () => {
  const forge = byToken()
  const { head_sha } = await forge.createPullRequest(repo, pull)
  const input = { method: 'merge', head_sha, message: 'Merge it\n\nAgent-Run: x' } as const
  await expect(forge.mergePullRequest(repo, 100, { ...input, head_sha: 'f'.repeat(40) })).rejects.toMatchObject({
    code: 'conflict',
    http_status: 409,
  })
  const { merge_sha } = await forge.mergePullRequest(repo, 100, input)
  expect(gitIn(github.folder, 'rev-parse', 'main').trim()).toBe(merge_sha)
  expect(await forge.getPullRequest(repo, 100)).toMatchObject({ state: 'merged', merge_sha })
  await expect(forge.mergePullRequest(repo, 100, input)).rejects.toMatchObject({ code: 'conflict', http_status: 405 })
})

test('checks are check runs and statuses together, in the same words', async () => {
  const sha = github.state.sha('one') ?? ''
  github.state.checks.push(
    { sha, name: 'unit', app: 'github-actions', status: 'completed', conclusion: 'failure', summary: '2 failed' },
    { sha, name: 'lint', app: 'github-actions', status: 'in_progress', conclusion: null, summary: '' },
  )
  github.state.statuses.push(
    { sha, context: 'ci/deploy', state: 'error', description: 'no' },
    { sha, context: 'ci/slow', state: 'pending', description: '' },
  )
  expect((await byToken().listChecks(repo, sha)).checks).toMatchObject([
    { name: 'unit', app: 'github-actions', status: 'completed', conclusion: 'failure', log_excerpt: 'unit\n\n2 failed' },
    { name: 'lint', status: 'in_progress', conclusion: null },
    { name: 'ci/slow', status: 'in_progress', conclusion: null },
    { name: 'ci/deploy', app: null, status: 'completed', conclusion: 'failure', log_excerpt: 'no' },
  ])
})

const RUNS = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'
const WORKFLOWS = 'GET /repos/{owner}/{repo}/actions/runs'
const STATUSES = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses'

test('a mark whose state is known is written without reading it, and one that another process wrote since is read', async () => {
  const sha = github.state.sha('one') ?? ''
  const [one, other] = [byApp(), byApp()]
  await one.markCommit(repo, sha, { ...at_work, before: null })
  await one.markCommit(repo, sha, { ...at_work, title: 'Paused', before: markKey(at_work) })
  expect(github.count(RUNS)).toBe(0)
  await other.markCommit(repo, sha, { ...at_work, before: markKey({ ...at_work, title: 'Paused' }) })
  expect(github.count(RUNS)).toBe(1)
  await one.markCommit(repo, sha, { ...at_work, title: 'Stopping', before: markKey(at_work) })
  expect(github.count(RUNS)).toBe(2)
  expect(github.state.checks.map(({ made }) => made?.title)).toEqual(['Stopping'])
})

test('where check runs are refused, statuses and the workflow runs of GitHub Actions are read, and the gap is reported', async () => {
  const sha = github.state.sha('one') ?? ''
  github.state.refused.add(RUNS)
  github.state.statuses.push({ sha, context: 'ci/deploy', state: 'success', description: '' })
  const run = { sha, name: 'CI', status: 'completed' } as const
  github.state.workflow_runs.push(
    { ...run, conclusion: 'failure' },
    { ...run, conclusion: 'success' },
    { ...run, name: 'Lint', workflow_id: 2, status: 'queued', conclusion: null },
    { ...run, sha: github.state.sha('two') ?? '', name: 'Other', workflow_id: 3, conclusion: 'failure' },
  )
  const forge = byToken()
  for (let polls = 0; polls < 3; polls++)
    expect(await forge.listChecks(repo, sha)).toMatchObject({
      checks: [
        { name: 'Lint', app: 'github-actions', status: 'queued', conclusion: null, completed_at: null },
        { name: 'CI', status: 'completed', conclusion: 'success', url: `${github.url}/acme/app/actions/runs/2` },
        { name: 'ci/deploy', conclusion: 'success' },
      ],
      gaps: [{ resource: 'app_check_runs', detail: 'GitHub answered 403: Resource not accessible by personal access token' }],
    })
  // What was refused is not requested again on every poll; other credentials are tried.
  expect(github.count(RUNS)).toBe(1)
  github.state.refused.clear()
  expect(await byToken().listChecks(repo, sha)).toMatchObject({ checks: [{ name: 'ci/deploy' }], gaps: [] })
})

test('what is refused for lack of a permission is a gap; a rate limit, an error and a repository that is not there are not', async () => {
  const sha = github.state.sha('one') ?? ''
  for (const name of [RUNS, WORKFLOWS, STATUSES]) github.state.refused.add(name)
  expect(await byToken().listChecks(repo, sha)).toMatchObject({
    checks: [],
    gaps: [{ resource: 'check_runs' }, { resource: 'commit_statuses' }],
  })
  github.state.refused.clear()
  github.play(RUNS, { kind: 'secondary_limit', seconds: 1 }, { kind: 'status', status: 500 })
  for (const code of ['rate_limited', 'server_error']) await expect(byToken().listChecks(repo, sha)).rejects.toMatchObject({ code })
  await expect(byToken().listChecks({ ...repo, name: 'none' }, sha)).rejects.toMatchObject({ code: 'not_found' })
})

const at_work = {
  status: 'in_progress',
  conclusion: null,
  title: 'At work',
  external_id: '7',
  url: 'https://x/7',
  summary: 'words',
} as const
const ended = { ...at_work, status: 'completed', conclusion: 'success', title: 'Completed' } as const

test('the state of a run is one check run, despite lost responses, another one when the run continues, and never a check', async () => {
  const sha = github.state.sha('one') ?? ''
  const [write, change] = ['POST /repos/{owner}/{repo}/check-runs', 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}']
  const says = () => github.state.checks.map(({ name, status, conclusion, made }) => [name, status, conclusion, made?.external_id])
  github.state.checks.push({ sha, name: 'agentrun', app: 'another-app', status: 'in_progress', conclusion: null, summary: '' })
  for (const [mark, of] of [
    [at_work, write],
    [ended, change],
  ] as const) {
    github.play(of, { kind: 'hang_up', when: 'after' })
    await expect(byApp().markCommit(repo, sha, mark)).rejects.toMatchObject({ code: 'unreachable' })
    await byApp().markCommit(repo, sha, mark)
    expect([github.count(write), github.count(change)]).toEqual(mark === at_work ? [1, 0] : [1, 1])
  }
  await byApp().markCommit(repo, sha, { ...at_work, external_id: '8' })
  await byApp().markCommit(repo, sha, at_work)
  expect(says().slice(1)).toEqual([
    ['agentrun', 'completed', 'success', '7'],
    ['agentrun', 'in_progress', null, '8'],
    ['agentrun', 'in_progress', null, '7'],
  ])
  expect((await byApp().listChecks(repo, sha)).checks).toMatchObject([{ name: 'agentrun', app: 'another-app' }])
})

test('a token, and an app that may write no checks, post it as a status, the last of which counts', async () => {
  const sha = github.state.sha('one') ?? ''
  github.state.checks_allowed = false
  github.state.statuses.push({ sha, context: 'agentrun', state: 'pending', description: 'of somebody else' })
  github.play('POST /repos/{owner}/{repo}/statuses/{sha}', { kind: 'hang_up', when: 'after' })
  await expect(byToken().markCommit(repo, sha, at_work)).rejects.toMatchObject({ code: 'unreachable' })
  for (const mark of [at_work, at_work, ended, { ...ended, conclusion: 'cancelled', title: 'Stopped' } as const])
    await byToken().markCommit(repo, sha, mark)
  await byApp().markCommit(repo, sha, { ...ended, conclusion: 'neutral' })
  expect(
    github.state.statuses.slice(1).map(({ state, description, target_url, creator }) => [state, description, target_url, creator]),
  ).toEqual([
    ['pending', 'At work', 'https://x/7', 'agent-bot'],
    ['success', 'Completed', 'https://x/7', 'agent-bot'],
    ['error', 'Stopped', 'https://x/7', 'agent-bot'],
    ['success', 'Completed', 'https://x/7', 'careful-agent[bot]'],
  ])
  github.state.statuses.splice(
    1,
    0,
    { sha, context: 'ci', state: 'failure', description: 'no' },
    { sha, context: 'CI', state: 'success', description: 'yes' },
  )
  github.state.statuses.pop()
  expect((await byToken().listChecks(repo, sha)).checks).toMatchObject([{ name: 'CI', conclusion: 'success' }])
  github.state.statuses.push({ sha, context: 'agentrun', state: 'failure', description: 'of somebody else' })
  expect((await byToken().listChecks(repo, sha)).checks.map(({ name, conclusion }) => [name, conclusion])).toEqual([
    ['agentrun', 'failure'],
    ['CI', 'success'],
  ])
})

test('lists are read to their end, page by page, and no further than requested', async () => {
  const forge = byToken()
  for (let i = 0; i < 230; i++) github.state.comments.push({ id: i, number: 7, user: 'ada', body: `${i}` })
  expect((await forge.listComments(repo, 7)).map(({ id }) => id)).toEqual(Array.from({ length: 230 }, (_, i) => i))
  expect(github.count('GET /repos/{owner}/{repo}/issues/{issue_number}/comments')).toBe(3)
  expect(await forge.createComment(repo, 7, 'done')).toMatchObject({ author: 'agent-bot', body: 'done' })
  for (const each of [forge, byApp()]) {
    expect(await each.listRepositories(1_000)).toHaveLength(131)
    expect(await each.listRepositories(20)).toHaveLength(20)
  }
})

test('permissions are those of GitHub; a stranger has none', async () => {
  github.state.permissions.set('ada', 'write').set('eve', 'read')
  const forge = byToken()
  const found = await Promise.all(['ada', 'eve', 'mallory'].map(login => forge.permissionOf(repo, login)))
  expect(found).toEqual(['write', 'read', 'none'])
})

test('limits, failures and lost responses are distinguished, with the time to wait', async () => {
  const forge = byToken()
  const name = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'
  github.play(
    name,
    { kind: 'primary_limit', seconds: 30 },
    { kind: 'secondary_limit', seconds: 7 },
    ...[502, 401].map(status => ({ kind: 'status', status }) as const),
    { kind: 'hang_up', when: 'before' },
  )
  const failures = []
  for (let i = 0; i < 6; i++) failures.push(await forge.getPullRequest(repo, 1).catch(error => error))
  expect(failures).toMatchObject([
    {
      code: 'rate_limited',
      retryable: true,
      http_status: 403,
      retry_after_seconds: expect.toSatisfy(seconds => seconds > 25 && seconds <= 31),
    },
    { code: 'rate_limited', retryable: true, http_status: 403, retry_after_seconds: 7 },
    { code: 'server_error', retryable: true, http_status: 502 },
    { code: 'auth', retryable: false, http_status: 401 },
    { code: 'unreachable', retryable: true, http_status: null },
    { code: 'not_found', retryable: false, http_status: 404 },
  ])
})

test('a moved repository is followed at the same API, and a redirect to elsewhere is not: no credential goes there', async () => {
  const forge = byToken()
  await forge.createPullRequest(repo, pull)
  await using elsewhere = await startFakeGitHub()
  const name = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'
  github.play(name, { kind: 'redirect', to: `${github.url}/api/v3/repos/acme/app/pulls/100` })
  expect((await forge.getPullRequest(repo, 100)).number).toBe(100)
  github.play(name, { kind: 'redirect', to: `${elsewhere.url}/api/v3/repos/acme/app/pulls/100` })
  await expect(forge.getPullRequest(repo, 100)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('is not followed'),
  })
  expect(elsewhere.requests).toEqual([])
})

test('an app signs in for the installation of the repository, keeps its token, and gets another when GitHub takes it back', async () => {
  const forge = byApp()
  expect(await forge.identity()).toEqual({ login: 'careful-agent[bot]', app: 'careful-agent' })
  await forge.createPullRequest(repo, pull)
  await forge.getPullRequest(repo, 100)
  const issued = 'POST /app/installations/{installation_id}/access_tokens'
  expect(github.count(issued)).toBe(1)
  const { username, password, expires_at } = await forge.gitCredentials(repo)
  expect([username, github.count(issued), (expires_at?.getTime() ?? 0) > Date.now() + 600_000]).toEqual(['x-access-token', 1, true])
  expect(github.requests.at(-1)?.authorization).toBe(password)
  github.revokeTokens()
  await forge.getPullRequest(repo, 100)
  expect((await forge.gitCredentials(repo)).password).not.toBe(password)
}, 20_000)

test('git is given no token that is about to end', async () => {
  await using short = await startFakeGitHub({ token_ms: 5 * 60_000 })
  const { id, private_key } = short.app
  const forge = githubForge({ ...settings(), origin: short.url, credentials: { app_id: id, private_key, installation_id: 77 } })
  const first = await forge.gitCredentials(repo)
  expect((await forge.gitCredentials(repo)).password).not.toBe(first.password)
  expect(short.mistakes).toEqual([])
})

test('an address that may not be reached is refused, and not tried again', async () => {
  const closed = outgoingFetch({ ...outgoing, allow_private: false }, { ms: 5_000, max_bytes: 1_000 })
  const forge = githubForge({ ...settings(), fetch: closed, credentials: { token: github.token } })
  await expect(forge.identity()).rejects.toMatchObject({ code: 'refused', retryable: false, message: expect.stringContaining('private') })
  expect(github.requests).toEqual([])
})
