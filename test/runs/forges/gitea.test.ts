import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliver, SECRET } from '../../forge/deliver.ts'
import { BOT, type FakeGitea, startFakeGitea } from '../../forge/fake-gitea.ts'
import { commentBy, pullRequest, statusOf } from '../../forge/gitea-payloads.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, gitIn, shell, startCodingApp } from '../coding-app.ts'

const CREATE = 'POST /repos/{owner}/{repo}/pulls'

let app: CodingApp
let gitea: FakeGitea
let hook: string
let repo_id: number
beforeAll(async () => {
  gitea = await startFakeGitea()
  app = await startCodingApp(
    // Every round writes a new file.
    ({ body }) =>
      (body.messages as { role: string }[]).at(-1)?.role === 'tool'
        ? { text: 'Written.' }
        : calls(shell('date +%s%N > made.txt')),
    { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_PUSH_RETRY_SECONDS: '20', AGENTRUN_CI_POLL_SECONDS: '1' },
  )
  const at = `/v1/organizations/${app.org_id}`
  const set = { url: gitea.url, token: gitea.token, webhook_secret: SECRET }
  hook = (await app.call('PUT', `${at}/integrations/gitea`, set)).body.webhook_url
  repo_id = (await app.call('POST', `${at}/repos`, { url: `${gitea.url}/acme/app.git` })).body.id
  gitea.state.permissions.set('ada', 'write').set('eve', 'read')
})
afterAll(async () => {
  expect(gitea.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await gitea[Symbol.asyncDispose]()
})

const start = async () => (await createRun(app, { prompt: 'write', title: 'Write it', repo_id })).id as number
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
const setStatus = (sha: string, state: 'pending' | 'success' | 'failure', description = '') =>
  gitea.state.statuses.push({ sha, context: 'build', state, description })
const entriesOf = async (id: number, type: string) =>
  (await allLogs(app, id)).filter(entry => entry.message_type === type).map(entry => entry.observation)
const outcomeOf = async (delivery: string) =>
  (
    await rows<{ outcome: string; run_id: number | null; open: boolean }>(
      app,
      `select outcome, run_id, task is not null as open
        from forge_deliveries
        where delivery = $1`,
      [delivery],
    )
  )[0]
const endOf = (delivery: string) =>
  expect.poll(async () => (await outcomeOf(delivery))?.open, { timeout: 30_000 }).toBe(false)
const postedOn = (of: number) =>
  gitea.state.comments
    .filter(({ number }) => number === of)
    .map(({ user, body }) => [user, body.split('\n')[0]])

test('one pull request even if the response to the create is lost; the run waits for its statuses and fixes failures; its state on Gitea is its state here', async () => {
  gitea.play(CREATE, { kind: 'status', status: 429, retry_after: 1 }, { kind: 'hang_up', when: 'after' })
  const id = await start()
  const first = await waitsFor(id)
  expect((await entriesOf(id, 'PR_CREATION_FAILED')).map(({ code }) => code)).toEqual([
    'rate_limited',
    'unreachable',
  ])
  setStatus(first, 'pending')
  setStatus(first, 'failure', 'two tests failed')
  expect((await deliver(hook, 'status', statusOf(first), { as: 'gitea' })).body).toMatchObject({
    queued: true,
  })
  const second = await waitsFor(id, first)
  const failed = { name: 'build', conclusion: 'failure', log_excerpt: 'two tests failed' }
  expect(await entriesOf(id, 'DETECT_PR_ERRORS')).toMatchObject([
    { pr_number: 100, head_sha: first, checks: [failed] },
  ])
  // Found without a webhook.
  setStatus(second, 'success')
  const run = await awaitEnd(app, id)
  expect(run.result).toMatch(
    /^Written\.\n\nChecks: the one check of commit [0-9a-f]{12} passed, after one attempt/,
  )
  const [pull, ...more] = gitea.state.pulls
  if (!pull) throw new Error('no pull request')
  expect([pull, more]).toMatchObject([{ number: 100, title: 'Write it', head: run.branch, base: 'main' }, []])
  const url = `${gitea.url}/acme/app/pulls/100`
  expect(run.github_pull_requests).toMatchObject([{ number: 100, url, title: 'Write it', state: 'open' }])
  expect(gitIn(gitea.folder, 'show', `${run.branch}:made.txt`)).toMatch(/^\d+\n$/)
  const path = `/v1/organizations/${app.org_id}/prs/${run.github_pull_requests[0].id}`
  expect((await app.call('GET', `${path}/checks`)).body.items).toMatchObject([
    { source: 'gitea', name: 'build', conclusion: 'success' },
  ])
  expect(JSON.stringify([run, await allLogs(app, id)])).not.toContain(gitea.token)

  await app.call('PATCH', path, { state: 'draft' })
  expect(pull.title).toBe('WIP: Write it')
  expect((await app.call('PATCH', path, { title: 'Written' })).body).toMatchObject({ success: true })
  expect([pull.title, (await app.call('GET', path)).body]).toMatchObject([
    'WIP: Written',
    { title: 'Written', state: 'draft' },
  ])
  pull.title = 'Written'
  await deliver(hook, 'pull_request', pullRequest('edited', 100), { as: 'forgejo', delivery: 'ready' })
  await endOf('ready')
  expect((await app.call('GET', path)).body.state).toBe('open')
  const merged = await app.call('POST', `${path}/merge`, { method: 'merge' })
  expect(merged).toMatchObject({ status: 200, body: { state: 'merged', merge_sha: pull.merged_sha } })
}, 90_000)

test('a user with write access requests a run in a comment, once: the run starts, and its answer is posted', async () => {
  const comment = commentBy('ada', '@agent-bot please fix it\n```playbook\n- run: exit 7\n```', {
    id: 50,
    number: 500,
  })
  for (const delivery of ['ask', 'again'])
    await deliver(hook, 'issue_comment', comment, { as: 'gitea', delivery })
  await expect.poll(async () => (await outcomeOf('ask'))?.run_id ?? null, { timeout: 20_000 }).not.toBeNull()
  const id = (await outcomeOf('ask'))?.run_id ?? 0
  const head = await waitsFor(id)
  setStatus(head, 'success')
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', title: 'It is broken', repo_id })
  const [first, second] = await allLogs(app, id)
  expect(first.observation.text).toMatch(
    /issue acme\/app#500 on Gitea: [\s\S]*> @agent-bot please fix it\n> ```playbook/,
  )
  expect(second.observation).toMatchObject({
    author: 'ada',
    issue_number: 500,
    repo: 'acme/app',
    comment_id: 50,
    trusted: false,
  })
  await endOf('ask')
  expect(await outcomeOf('again')).toBeUndefined()
  expect(postedOn(500)).toEqual([
    [BOT, `Working on it: [run ${id}](${app.base_url}/agent/trace/${id}).`],
    [BOT, expect.stringContaining('Written.')],
  ])
}, 60_000)

test.each([
  ['eve', 61, true, 'eve may not write there (read)'],
  ['mallory', 62, true, 'mallory may not write there (none)'],
  [
    'ada',
    63,
    false,
    'Gitea responded with 403: Only admins can query all permissions, repo admins can query all repo permissions',
  ],
])(
  '%s gets nothing where the forge does not confirm write access (comment %i, it reports: %j)',
  async (login, id, is_repository_admin, outcome) => {
    gitea.set.is_repository_admin = is_repository_admin
    const delivery = `by-${login}`
    await deliver(hook, 'issue_comment', commentBy(login, '@agent-bot go', { id, number: 600 }), {
      as: 'gitea',
      delivery,
    })
    await expect
      .poll(() => outcomeOf(delivery), { timeout: 10_000 })
      .toEqual({ outcome, run_id: null, open: false })
    const [{ metadata }] = (await app.call('GET', `/v1/organizations/${app.org_id}/integrations`)).body
      .integrations
    const fix = 'Make the user of the token an administrator of the repository.'
    expect(metadata.missing_permissions).toMatchObject(
      is_repository_admin ? [] : [{ resource: 'user_permissions', fix }],
    )
    gitea.set.is_repository_admin = true
    expect(postedOn(600)).toEqual([])
  },
)
