import { afterEach, beforeEach, expect, test } from 'vitest'
import { outgoingFetch } from '../../src/egress/fetch.ts'
import { createResolver } from '../../src/egress/resolve.ts'
import { giteaForge } from '../../src/forge/gitea/gitea.ts'
import type { RemoteForge } from '../../src/forge/port.ts'
import { gitIn } from '../runs/coding-app.ts'
import { type FakeGitea, startFakeGitea } from './fake-gitea.ts'

const LIST = 'GET /repos/{owner}/{repo}/pulls'
const GET = 'GET /repos/{owner}/{repo}/pulls/{index}'
const MERGE = 'POST /repos/{owner}/{repo}/pulls/{index}/merge'

let gitea: FakeGitea
let forge: RemoteForge
beforeEach(async () => {
  gitea = await startFakeGitea()
  const main = gitIn(gitea.folder, 'rev-parse', 'main').trim()
  const tree = gitIn(gitea.folder, 'rev-parse', 'main^{tree}').trim()
  for (const name of ['one', 'two']) {
    const sha = gitIn(gitea.folder, 'commit-tree', tree, '-p', main, '-m', name).trim()
    gitIn(gitea.folder, 'update-ref', `refs/heads/${name}`, sha)
  }
  forge = giteaForge(settings())
})
afterEach(async () => {
  expect(gitea.mistakes).toEqual([])
  await gitea[Symbol.asyncDispose]()
})

const repo = { owner: 'acme', name: 'app' }
const pull = { title: 'One', body: 'words', head_branch: 'one', base_branch: 'main', draft: false }
const outgoing = { resolve: createResolver(), allow_private: true, upstream: null }
const fetch = outgoingFetch(outgoing, { ms: 5_000, max_bytes: 8 * 1024 ** 2 })
const settings = () => ({ url: gitea.url, token: gitea.token, fetch, user_agent: 'agentrun/test' })
const failureOf = (requested: Promise<unknown>) => requested.then(() => null).catch(error => error)

test('the token identifies our account, and signs in to git', async () => {
  expect(await forge.identity()).toEqual({ login: 'agent-bot', app: null })
  expect(await forge.gitCredentials(repo)).toEqual({
    username: 'agent-bot',
    password: gitea.token,
    expires_at: null,
  })
})

test('a pull request is created, found by its branch, changed, closed and reopened', async () => {
  expect(await forge.findPullRequest(repo, 'one')).toBeNull()
  const made = await forge.createPullRequest(repo, pull)
  expect(made).toMatchObject({
    number: 100,
    state: 'open',
    title: 'One',
    body: 'words',
    head_branch: 'one',
    base_branch: 'main',
    mergeable: 'clean',
    url: `${gitea.url}/acme/app/pulls/100`,
    head_sha: gitea.state.sha('one'),
    base_sha: gitea.state.sha('main'),
  })
  expect(await forge.findPullRequest(repo, 'one')).toEqual(made)
  const long = await forge.updatePullRequest(repo, 100, {
    title: 'x'.repeat(300),
    body: '',
    base_branch: 'two',
  })
  expect(long).toMatchObject({ title: `${'x'.repeat(249)}…`, body: '', base_branch: 'two' })
  expect(await forge.updatePullRequest(repo, 100, { state: 'closed' })).toMatchObject({ state: 'closed' })
  gitIn(gitea.folder, 'update-ref', '-d', 'refs/heads/one')
  expect(await forge.findPullRequest(repo, 'one')).toMatchObject({
    number: 100,
    state: 'closed',
    head_branch: 'one',
  })
  expect(await forge.updatePullRequest(repo, 100, { state: 'open' })).toMatchObject({ state: 'open' })
})

test.each([true, false])(
  'a draft is set by the title, and read from the state alone; the server reports it too: %j',
  async reports_draft => {
    gitea.set.reports_draft = reports_draft
    const title = () => gitea.state.pulls[0]?.title
    expect(await forge.createPullRequest(repo, { ...pull, draft: true })).toMatchObject({
      state: 'draft',
      title: 'One',
      mergeable: 'unknown',
    })
    expect(title()).toBe('WIP: One')
    expect(await forge.updatePullRequest(repo, 100, { title: 'Two' })).toMatchObject({
      state: 'draft',
      title: 'Two',
    })
    expect(title()).toBe('WIP: Two')
    await forge.setDraft(repo, await forge.getPullRequest(repo, 100), true)
    await forge.setDraft(repo, await forge.getPullRequest(repo, 100), false)
    expect([title(), (await forge.getPullRequest(repo, 100)).state]).toEqual(['Two', 'open'])
    Object.assign(gitea.state.pulls[0] ?? {}, { title: '[wip] Draft: manual' })
    expect(await forge.getPullRequest(repo, 100)).toMatchObject({ state: 'draft', title: 'manual' })
    await forge.setDraft(repo, await forge.getPullRequest(repo, 100), false)
    await forge.setDraft(repo, await forge.getPullRequest(repo, 100), true)
    expect(title()).toBe('WIP: manual')
    await forge.updatePullRequest(repo, 100, { state: 'closed' })
    expect((await forge.getPullRequest(repo, 100)).state).toBe('closed')
  },
)

test('a second pull request of an open branch is refused, and the open one is found before newer ones and those of forks', async () => {
  await forge.createPullRequest(repo, pull)
  expect(await failureOf(forge.createPullRequest(repo, pull))).toMatchObject({
    code: 'refused',
    http_status: 409,
    retryable: false,
    message: expect.stringContaining('already exists'),
  })
  const again = await forge.createPullRequest(repo, { ...pull, base_branch: 'two' })
  await forge.updatePullRequest(repo, again.number, { state: 'closed' })
  const [first] = gitea.state.pulls
  if (first) gitea.state.pulls.push({ ...first, number: 150, of_fork: true })
  expect((await forge.findPullRequest(repo, 'one'))?.number).toBe(100)
  expect(await failureOf(forge.createPullRequest(repo, { ...pull, head_branch: 'main' }))).toMatchObject({
    code: 'refused',
    http_status: 422,
  })
  expect(await failureOf(forge.createPullRequest(repo, { ...pull, head_branch: 'gone' }))).toMatchObject({
    code: 'not_found',
  })
})

test.each(['link', 'total', 'neither'] as const)(
  'lists are read to their end, however short their pages are: %s',
  async counts_by => {
    Object.assign(gitea.set, { counts_by, most_per_page: 20 })
    await forge.createPullRequest(repo, pull)
    const [first] = gitea.state.pulls
    if (!first) throw new Error('no pull request')
    for (let i = 1; i <= 45; i++) gitea.state.pulls.push({ ...first, number: 100 + i, head: 'two' })
    expect((await forge.findPullRequest(repo, 'one'))?.number).toBe(100)
    expect(gitea.count(LIST)).toBe(3)
    expect(await forge.listRepositories(1_000)).toHaveLength(131)
    const requested = gitea.count('GET /user/repos')
    const [app, ...others] = await forge.listRepositories(30)
    expect([others.length, gitea.count('GET /user/repos') - requested]).toEqual([29, 2])
    // Not where the server believes that it is found.
    expect(app).toEqual({
      full_name: 'acme/app',
      url: `${gitea.url}/acme/app.git`,
      default_branch: 'main',
      private: true,
      archived: false,
    })
  },
)

test('a merge names the head that was read, and returns the merge commit', async () => {
  const { head_sha } = await forge.createPullRequest(repo, { ...pull, draft: true })
  const input = { method: 'merge', head_sha, message: 'Merge it\n\nAgent-Run: x' } as const
  expect(await failureOf(forge.mergePullRequest(repo, 100, input))).toMatchObject({
    code: 'conflict',
    http_status: 405,
  })
  await forge.setDraft(repo, await forge.getPullRequest(repo, 100), false)
  const other = { ...input, head_sha: 'f'.repeat(40) }
  expect(await failureOf(forge.mergePullRequest(repo, 100, other))).toMatchObject({
    code: 'conflict',
    http_status: 409,
  })
  // It returns the same for a conflict, and while mergeability is unknown.
  gitea.play(MERGE, { kind: 'status', status: 405, message: 'Please try again later' })
  const later = {
    code: 'conflict',
    retryable: false,
    message: 'Gitea responded with 405: Please try again later',
  }
  expect(await failureOf(forge.mergePullRequest(repo, 100, input))).toMatchObject(later)
  const { merge_sha } = await forge.mergePullRequest(repo, 100, input)
  expect(gitIn(gitea.folder, 'log', '-1', '--format=%H %B', 'main').trim()).toBe(
    `${merge_sha} ${input.message}`,
  )
  expect(await forge.getPullRequest(repo, 100)).toMatchObject({
    state: 'merged',
    merge_sha,
    merged_at: expect.any(Date),
  })
  expect(await failureOf(forge.mergePullRequest(repo, 100, input))).toMatchObject({
    code: 'conflict',
    http_status: 405,
  })
  expect(await failureOf(forge.updatePullRequest(repo, 100, { state: 'closed' }))).toMatchObject({
    code: 'conflict',
    http_status: 412,
  })
})

test('statuses are checks, the newest of each context, in the terms of the port', async () => {
  gitea.set.most_per_page = 3
  const sha = gitea.state.sha('one') ?? ''
  const setStatus = (
    context: string,
    state: 'pending' | 'success' | 'failure' | 'error' | 'warning',
    target_url?: string,
  ) =>
    gitea.state.statuses.push({
      sha,
      context,
      state,
      description: `${context} ${state}`,
      ...(target_url && { target_url }),
    })
  setStatus('ci / unit (push)', 'pending')
  setStatus('deploy', 'error', 'https://ci.example.org/1')
  setStatus('slow', 'success')
  setStatus('ci / unit (push)', 'failure', '/gitea/acme/app/actions/runs/1/jobs/0')
  setStatus('lint', 'warning', 'javascript:alert(1)')
  setStatus('slow', 'pending')
  setStatus('other', 'success')
  const { checks: found } = await forge.listChecks(repo, sha)
  expect(
    Object.fromEntries(found.map(({ name, status, conclusion, url }) => [name, [status, conclusion, url]])),
  ).toEqual({
    'ci / unit (push)': [
      'completed',
      'failure',
      `${new URL(gitea.url).origin}/gitea/acme/app/actions/runs/1/jobs/0`,
    ],
    deploy: ['completed', 'failure', 'https://ci.example.org/1'],
    slow: ['in_progress', null, null],
    lint: ['completed', 'neutral', null],
    other: ['completed', 'success', null],
  })
  expect(found.find(({ name }) => name === 'deploy')).toMatchObject({
    app: null,
    log_excerpt: 'deploy error',
    completed_at: expect.any(Date),
  })
  expect((await forge.listChecks(repo, 'f'.repeat(40))).checks).toEqual([])
})

test('statuses that the token may not read are a gap, and no failure', async () => {
  gitea.state.refused.add('GET /repos/{owner}/{repo}/statuses/{sha}')
  const detail =
    'Gitea responded with 403: token does not have at least one of required scope(s): [read:repository]'
  expect(await forge.listChecks(repo, gitea.state.sha('one') ?? '')).toEqual({
    checks: [],
    gaps: [{ resource: 'commit_statuses', detail }],
  })
})

test('the state of a run is a status, posted once despite lost responses, and never a check', async () => {
  const sha = gitea.state.sha('one') ?? ''
  const mark = {
    status: 'in_progress',
    conclusion: null,
    title: 'Running',
    external_id: '7',
    url: 'https://x/7',
    summary: 'words',
  } as const
  const ended = { ...mark, status: 'completed', conclusion: 'neutral', title: 'Completed' } as const
  gitea.play('POST /repos/{owner}/{repo}/statuses/{sha}', { kind: 'hang_up', when: 'after' })
  expect(await failureOf(forge.markCommit(repo, sha, mark))).toMatchObject({ code: 'unreachable' })
  for (const text of [mark, mark, ended, ended]) await forge.markCommit(repo, sha, text)
  expect(
    gitea.state.statuses.map(({ context, state, description, target_url }) => [
      context,
      state,
      description,
      target_url,
    ]),
  ).toEqual([
    ['agentrun', 'pending', 'Running', 'https://x/7'],
    ['agentrun', 'success', 'Completed', 'https://x/7'],
  ])
  expect((await forge.listChecks(repo, sha)).checks).toEqual([])
  gitea.state.statuses.push({
    sha,
    context: 'agentrun',
    state: 'failure',
    description: 'of somebody else',
    creator: 'eve',
  })
  expect((await forge.listChecks(repo, sha)).checks).toMatchObject([
    { name: 'agentrun', conclusion: 'failure' },
  ])
})

test('comments are read and written; of the forge itself they are of a bot', async () => {
  const at = (created_at: string) => ({ number: 7, body: 'b', created_at })
  gitea.state.comments.push({ ...at('2026-11-20T10:00:00.000Z'), id: 1, user: 'ada' })
  gitea.state.comments.push({ ...at('2026-11-22T10:00:00.000Z'), id: 2, user: 'gitea-actions' })
  expect(await forge.listComments(repo, 7)).toMatchObject([
    {
      id: 1,
      author: 'ada',
      is_bot: false,
      author_association: '',
      url: expect.stringContaining('#issuecomment-1'),
    },
    { id: 2, author: 'gitea-actions', is_bot: true },
  ])
  const { id } = await forge.createComment(repo, 7, 'done')
  await forge.updateComment(repo, id, 'really done')
  expect((await forge.listComments(repo, 7)).at(-1)).toMatchObject({
    id,
    author: 'agent-bot',
    body: 'really done',
  })
  for (const _again of [1, 2]) await forge.deleteComment(repo, id)
  expect(await forge.listComments(repo, 7)).toHaveLength(2)
  expect(await failureOf(forge.updateComment(repo, id, 'x'))).toMatchObject({ code: 'not_found' })
})

test('permissions are those of the forge; a stranger has none, and no name leads elsewhere', async () => {
  gitea.state.permissions.set('ada', 'write').set('eve', 'read').set('root', 'owner')
  const names = ['ada', 'eve', 'root', 'mallory']
  expect(await Promise.all(names.map(login => forge.permissionOf(repo, login)))).toEqual([
    'write',
    'read',
    'admin',
    'none',
  ])
  const requested = gitea.requests.length
  for (const login of ['..', '../ada', 'a/b', 'ada?x', ''])
    expect(await forge.permissionOf(repo, login)).toBe('none')
  expect(gitea.requests).toHaveLength(requested)
  gitea.set.is_repository_admin = false
  expect(await failureOf(forge.permissionOf(repo, 'ada'))).toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('Only admins can query'),
  })
})

test('limits, failures, lost and unreadable responses are distinguished, with the time to wait', async () => {
  gitea.play(
    GET,
    { kind: 'status', status: 429, retry_after: 7 },
    { kind: 'status', status: 429 },
    { kind: 'status', status: 503, retry_after: 9 },
    { kind: 'page', status: 502 },
    { kind: 'status', status: 401 },
    { kind: 'hang_up', when: 'before' },
    { kind: 'page', status: 200 },
    { kind: 'status', status: 423 },
  )
  const failures = []
  for (let i = 0; i < 9; i++) failures.push(await failureOf(forge.getPullRequest(repo, 1)))
  expect(failures).toMatchObject([
    { code: 'rate_limited', retryable: true, http_status: 429, retry_after_seconds: 7 },
    { code: 'rate_limited', retryable: true, http_status: 429, retry_after_seconds: 60 },
    { code: 'server_error', retryable: true, http_status: 503, retry_after_seconds: 9 },
    {
      code: 'server_error',
      retryable: true,
      http_status: 502,
      message: 'Gitea responded with 502: no message',
    },
    { code: 'auth', retryable: false, http_status: 401 },
    { code: 'unreachable', retryable: true, http_status: null },
    { code: 'answer', retryable: false },
    { code: 'conflict', retryable: false, http_status: 423 },
    { code: 'not_found', retryable: false, http_status: 404 },
  ])
  for (const { message } of failures) expect(message).not.toContain(gitea.token)
})

test('a moved repository is followed on the same server, and a redirect to elsewhere is not: no token goes there', async () => {
  await forge.createPullRequest(repo, pull)
  await using elsewhere = await startFakeGitea()
  gitea.play(GET, { kind: 'redirect', to: `${gitea.url}/api/v1/repos/acme/app/pulls/100` })
  expect((await forge.getPullRequest(repo, 100)).number).toBe(100)
  gitea.play(GET, { kind: 'redirect', to: `${elsewhere.url}/api/v1/repos/acme/app/pulls/100` })
  expect(await failureOf(forge.getPullRequest(repo, 100))).toMatchObject({
    code: 'refused',
    message: expect.stringContaining('is not followed'),
  })
  expect(elsewhere.requests).toEqual([])
})

test('an address that may not be reached is refused, and not tried again', async () => {
  const closed = outgoingFetch({ ...outgoing, allow_private: false }, { ms: 5_000, max_bytes: 1_000 })
  const failure = await failureOf(giteaForge({ ...settings(), fetch: closed }).identity())
  expect(failure).toMatchObject({
    code: 'refused',
    retryable: false,
    message: expect.stringContaining('private'),
  })
  expect(gitea.requests).toEqual([])
})
