import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectFake } from '../../forge/connect.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, gitIn, responses, shell, startCodingApp } from '../coding-app.ts'
import { type Cluster, startCluster } from '../recovery/cluster.ts'

const FIND = 'GET /repos/{owner}/{repo}/pulls'
const CREATE = 'POST /repos/{owner}/{repo}/pulls'

let app: CodingApp
let github: FakeGitHub
let repo_id: number
beforeAll(async () => {
  app = await startCodingApp(
    // Every turn writes a new file.
    ({ body }) =>
      (body.messages as { role: string }[]).at(-1)?.role === 'tool'
        ? { text: JSON.stringify(body.messages).includes('mention') ? 'For @ada, by `@bob`.' : 'Written.' }
        : calls(shell('date +%s%N > made.txt')),
    { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_PUSH_RETRY_SECONDS: '20', AGENTRUN_CI_FIRST_SECONDS: '0' },
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

const entriesOf = async (id: number, type: string) =>
  (await allLogs(app, id)).filter(entry => entry.message_type === type)

/** A run to its end, and what the forge has of it. */
async function runToEnd(expected: object = { status_reason: null, result: 'Written.' }) {
  const { id } = await createRun(app, { prompt: 'write', title: 'Write it', repo_id })
  const run = await awaitEnd(app, id)
  expect(run, JSON.stringify(run.error)).toMatchObject({ status: 'completed', ...expected })
  return run
}

/** The run is not a success, and its answer names the reason. */
const refused = {
  status_reason: 'pull_request_refused',
  result: expect.stringMatching(/^Written\.\n\nThe branch is pushed, but .* 403/),
}

const resume = (agent_run_id: number) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id, prompt: 'more' })

test('the pull request of a run is created on GitHub, and the stored one has its number, address and state', async () => {
  const run = await runToEnd()
  expect(github.state.pulls).toMatchObject([
    { number: 100, title: 'Write it', head: run.branch, base: 'main', draft: false },
  ])
  expect(gitIn(github.folder, 'show', `${run.branch}:made.txt`)).toMatch(/^\d+\n$/)
  const url = `${github.url}/acme/app/pull/100`
  expect(run.github_pull_requests).toMatchObject([{ number: 100, url, head_branch_name: run.branch }])
  expect((await entriesOf(run.id, 'INITIAL_PR_GENERATION')).map(entry => entry.observation)).toMatchObject([
    { pr_number: 100, url },
  ])
  // The credentials are in no response, log or trace.
  expect(JSON.stringify([run, await allLogs(app, run.id)])).not.toContain(github.token)
}, 60_000)

test('the text of an agent mentions no user, neither in the pull request nor in the message of its commit', async () => {
  const { id } = await createRun(app, { prompt: 'mention somebody', title: 'Thank @ada', repo_id })
  const run = await awaitEnd(app, id)
  expect(github.state.pulls).toMatchObject([
    { title: 'Thank @\u2060ada', body: expect.stringContaining('For @\u2060ada, by `@bob`.\n\n---\n') },
  ])
  expect(gitIn(github.folder, 'log', '-1', '--format=%B', run.branch)).toContain(
    'Thank @\u2060ada\n\nFor @\u2060ada, by `@bob`.\n',
  )
  // The stored text is that of the agent.
  expect(run).toMatchObject({ title: 'Thank @ada', result: 'For @ada, by `@bob`.' })
}, 60_000)

test('one pull request where the answer to the create is lost', async () => {
  github.play(CREATE, { kind: 'hang_up', when: 'after' })
  const run = await runToEnd()
  expect(github.state.pulls).toHaveLength(1)
  expect(run.github_pull_requests).toMatchObject([{ number: 100 }])
  const failures = (await entriesOf(run.id, 'PR_CREATION_FAILED')).map(({ tool_name, observation }) => ({
    tool_name,
    ...observation,
  }))
  expect(failures).toMatchObject([
    { tool_name: 'create_pull_request', retryable: true, attempt: 1, code: expect.any(String) },
  ])
}, 60_000)

test('an existing pull request for the branch that a person opened is adopted', async () => {
  let branch = ''
  github.play(FIND, { kind: 'hang_up', when: 'before' })
  const { id } = await createRun(app, { prompt: 'write', title: 'Write it', repo_id })
  await github.requestOf(FIND)
  branch = gitIn(
    github.folder,
    'for-each-ref',
    '--format=%(refname:short)',
    `refs/heads/agent/run-${id}-*`,
  ).trim()
  github.state.pulls.push({
    number: 7,
    state: 'open',
    draft: false,
    merged_sha: null,
    title: 'Manually',
    body: '',
    head: branch,
    base: 'main',
  })
  expect((await awaitEnd(app, id)).github_pull_requests).toMatchObject([{ number: 7 }])
  expect(github.count(CREATE)).toBe(0)
}, 60_000)

test('a final refusal of a forge ends with a typed failure; the branch is pushed, and the next turn proposes it', async () => {
  github.play(CREATE, { kind: 'status', status: 403 })
  const run = await runToEnd(refused)
  expect(run.github_pull_requests).toEqual([])
  expect((await entriesOf(run.id, 'PR_CREATION_FAILED')).map(entry => entry.observation)).toEqual([
    {
      code: 'forbidden',
      message: 'GitHub responded with 403: Server Error',
      http_status: 403,
      retryable: false,
      attempt: 1,
    },
  ])
  expect(github.state.sha(run.branch)).not.toBeNull()
  await resume(run.id)
  const again = await awaitEnd(app, run.id)
  expect([again.turn, again.status_reason, again.github_pull_requests]).toMatchObject([
    2,
    null,
    [{ number: 100 }],
  ])
}, 60_000)

test('closed or merged on the forge, it is closed or merged here at the next turn, which gets a new branch', async () => {
  const run = await runToEnd()
  const [pull] = github.state.pulls
  if (!pull) throw new Error('no pull request')
  pull.draft = false
  const merge_sha = github.state.merge(pull, 'Merged manually')
  await resume(run.id)
  const next = await awaitEnd(app, run.id)
  expect(next.branch).not.toBe(run.branch)
  expect(next.github_pull_requests.map((pr: { number: number }) => pr.number)).toEqual([100, 101])
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/prs?agent_run_id=${run.id}`)
  expect(
    body.items.map((pr: { number: number; state: string; merge_sha: string }) => [
      pr.number,
      pr.state === 'merged',
      pr.merge_sha,
    ]),
  ).toEqual([
    [101, false, null],
    [100, true, merge_sha],
  ])
}, 60_000)

test('a pull request that a person converted to a draft is a draft here, and the next turn does not open it', async () => {
  const run = await runToEnd()
  const [pull] = github.state.pulls
  if (!pull) throw new Error('no pull request')
  pull.draft = true
  await resume(run.id)
  await awaitEnd(app, run.id)
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/prs?agent_run_id=${run.id}`)
  expect([body.items[0].state, pull.draft]).toEqual(['draft', true])
}, 60_000)

test('an app authenticates git and API requests, also when its tokens are revoked between the turns', async () => {
  await connectFake(app, github, 'app')
  const run = await runToEnd()
  expect(run.github_pull_requests).toMatchObject([{ number: 100 }])
  github.revokeTokens()
  await resume(run.id)
  const next = await awaitEnd(app, run.id)
  expect(next, JSON.stringify(next.error)).toMatchObject({ turn: 2, status: 'completed' })
  expect(github.state.sha(run.branch)).not.toBe(run.head_sha)
}, 60_000)

test('kill -9 between the create and the record of it: one pull request, which the next worker finds', async () => {
  const released = Promise.withResolvers<void>()
  await using cluster: Cluster = await startCluster(
    responses(calls(shell('echo x > x.txt')), { text: 'Written.' }),
    {
      AGENTRUN_CI_FIRST_SECONDS: '0',
      AGENTRUN_ALLOW_PRIVATE_GIT: '1',
    },
  )
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = {
      authorization: `Bearer test-token-of-the-first-admin-0123456789`,
      'content-type': 'application/json',
    }
    const response = await fetch(`${cluster.base_url}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const id_of_repo = await connectFake({ call, org_id: 1 }, github)
  github.play(CREATE, { kind: 'hold', until: released.promise })
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'write', repo_id: id_of_repo })
  await expect.poll(() => github.state.pulls.length, { timeout: 30_000 }).toBe(1)
  worker.child.kill('SIGKILL')
  await worker.ended
  released.resolve()
  await cluster.start('work')
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [{ number: 100 }] })
  expect([github.state.pulls.length, github.count(CREATE)]).toEqual([1, 1])
}, 90_000)
