import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deliver, SECRET } from '../../forge/deliver.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import * as payloads from '../../forge/github-payloads.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, gitIn, shell, startCodingApp } from '../coding-app.ts'

let app: CodingApp
let github: FakeGitHub
let url: string
let repo_id: number
beforeAll(async () => {
  github = await startFakeGitHub()
  app = await startCodingApp(
    ({ body }) =>
      (body.messages as { role: string }[]).at(-1)?.role === 'tool'
        ? { text: 'Mended.' }
        : calls(shell('date +%s%N > made.txt')),
    { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_CI_FIRST_SECONDS: '0' },
  )
  const at = `/v1/organizations/${app.org_id}`
  const { id, private_key } = github.app
  const set = { url: github.url, app: { app_id: id, private_key }, webhook_secret: SECRET }
  url = (await app.call('PUT', `${at}/integrations/github`, set)).body.webhook_url
  repo_id = (await app.call('POST', `${at}/repos`, { url: `${github.url}/acme/app.git` })).body.id
  github.state.permissions.set('ada', 'write').set('eve', 'read')
})
afterAll(async () => {
  expect(github.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
})
let number = 500
beforeEach(() => {
  number++
})

let comment_id = 9_000
/** A comment on issue or pull request `number`, as the webhook of GitHub reports it. */
const commentBy = (login: string, body: string, of = number, pull = false) =>
  payloads.commentBy(login, body, { number: of, id: comment_id++, pull })

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
const runOf = async (delivery: string): Promise<number> => {
  await expect
    .poll(async () => (await outcomeOf(delivery))?.run_id ?? null, { timeout: 20_000 })
    .not.toBeNull()
  return (await outcomeOf(delivery))?.run_id ?? 0
}
const postedOn = (of: number) =>
  github.state.comments
    .filter(comment => comment.number === of)
    .map(({ user, body }) => [user, body.split('\n')[0]])

test('F119 a user with write access requests a run in a comment: it starts, its trace shows the comment as theirs, and its answer is posted with a link', async () => {
  await deliver(
    url,
    'issue_comment',
    commentBy('ada', '@careful-agent please fix it\n```playbook\n- run: exit 7\n```'),
    {
      delivery: 'ask',
    },
  )
  const id = await runOf('ask')
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    source_type: 'GITHUB',
    title: 'It is broken',
    repo_id,
    user_id: app.user_id,
  })
  const [first, second] = await allLogs(app, id)
  expect([first.message_type, first.observation.source_type]).toEqual(['USER_MESSAGE', 'GITHUB'])
  expect(first.observation.text).toContain('> @careful-agent please fix it\n> ```playbook')
  expect(second).toMatchObject({
    message_type: 'USER_GITHUB_ISSUE_COMMENT',
    observation: {
      author: 'ada',
      author_association: 'MEMBER',
      issue_number: number,
      repo: 'acme/app',
      comment_id: expect.any(Number),
      trusted: false,
    },
  })
  await expect.poll(async () => (await outcomeOf('ask'))?.open, { timeout: 20_000 }).toBe(false)
  expect(postedOn(number)).toEqual([
    ['careful-agent[bot]', `Working on it: [run ${id}](${app.base_url}/agent/trace/${id}).`],
    ['careful-agent[bot]', 'Mended.'],
  ])
}, 60_000)

test.each([
  ['eve', 'eve may not write there (read)'],
  ['mallory', 'mallory may not write there (none)'],
])('F118 %s, who may not write, gets nothing', async (login, outcome) => {
  await deliver(url, 'issue_comment', commentBy(login, '@careful-agent go'), { delivery: `by-${login}` })
  await expect
    .poll(async () => await outcomeOf(`by-${login}`), { timeout: 10_000 })
    .toEqual({ outcome, run_id: null, open: false })
  expect(postedOn(number)).toEqual([])
})

test('a comment on the pull request of a run goes to that run, and the pull request has the next commit', async () => {
  const { id } = await createRun(app, { prompt: 'write', title: 'Write it', repo_id })
  const run = await awaitEnd(app, id)
  const pr = run.github_pull_requests[0].number
  const before = github.state.sha(run.branch)
  await deliver(url, 'issue_comment', commentBy('ada', '@careful-agent once more', pr, true), {
    delivery: 'more',
  })
  expect(await runOf('more')).toBe(id)
  await expect.poll(async () => (await outcomeOf('more'))?.open, { timeout: 30_000 }).toBe(false)
  expect(github.state.sha(run.branch)).not.toBe(before)
  const entry = (await allLogs(app, id)).find(
    ({ message_type }) => message_type === 'USER_GITHUB_ISSUE_COMMENT',
  )
  expect(entry).toMatchObject({ turn: 2, observation: { issue_number: pr, author: 'ada' } })
  expect(postedOn(pr).map(([, text]) => text)).toEqual([expect.stringContaining('Working on it'), 'Mended.'])
}, 60_000)

/** The final statuses of a commit that our runs have set, after the outbox is drained. */
async function marksOn(sha: string | null) {
  const unposted = () =>
    rows(
      app,
      `select head_sha, problem
      from run_marks
      where posted_change < change or run_id is null`,
    )
  await expect.poll(unposted, { timeout: 60_000 }).toEqual([])
  return github.state.checks
    .filter(one => one.made && one.sha === sha)
    .map(({ status, conclusion, made }) => [made?.external_id, status, conclusion])
}

test('a run shows its status on the commit that it was requested for, and on its pushed commits, despite many failures', async () => {
  const main = gitIn(github.folder, 'rev-parse', 'main').trim()
  const sha = gitIn(github.folder, 'commit-tree', `${main}^{tree}`, '-p', main, '-m', 'by a person').trim()
  gitIn(github.folder, 'update-ref', 'refs/heads/of-a-person', sha)
  const pull = {
    number,
    state: 'open',
    draft: false,
    merged_sha: null,
    title: 'x',
    body: '',
    head: 'of-a-person',
    base: 'main',
  } as const
  github.state.pulls.push({ ...pull })
  const write = 'POST /repos/{owner}/{repo}/check-runs'
  github.play(
    write,
    { kind: 'hang_up', when: 'after' },
    { kind: 'status', status: 502 },
    { kind: 'secondary_limit', seconds: 1 },
  )
  await deliver(url, 'issue_comment', commentBy('ada', '@careful-agent go on with it', number, true), {
    delivery: 'marked',
  })
  const id = await runOf('marked')
  const run = await awaitEnd(app, id)
  expect(run.status).toBe('completed')
  const done = [[`${id}`, 'completed', 'success']]
  expect(await marksOn(sha)).toEqual(done)
  expect(await marksOn(github.state.sha(run.branch))).toEqual(done)
  expect(github.state.checks.find(one => one.sha === sha)).toMatchObject({
    name: 'agentrun',
    summary: `[Run ${id}](${run.web_url}), turn 1: Completed.`,
    made: { details_url: run.web_url, title: 'Completed' },
  })
  // The state left by a process that died before it recorded its posted status.
  const before = github.count(write)
  await rows(
    app,
    `update run_marks
    set posted_change = 0, posted = null, tries = 1
    where run_id = $1`,
    [id],
  )
  expect(await marksOn(sha)).toEqual(done)
  expect(github.count(write)).toBe(before)
  // The previously pushed commit gets its status when the run has continued from it; an ended one keeps it.
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'more',
  })
  const again = await awaitRun(app, id, ({ terminal, turn }) => terminal && turn === 2)
  expect((await marksOn(github.state.sha(again.branch))).at(-1)).toEqual(done[0])
  expect((await marksOn(again.github_pull_requests[0].head_sha)).length).toBe(1)
  expect((await marksOn(github.state.sha(`${again.branch}~1`))).map(([, status]) => status)).not.toContain(
    'in_progress',
  )
}, 120_000)

test('a run that is deleted before its final status was posted gets the status deleted, and then nothing of it is kept', async () => {
  const write = 'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}'
  const { id } = await createRun(app, { prompt: 'write', title: 'Write it', repo_id })
  const run = await awaitEnd(app, id)
  const sha = github.state.sha(run.branch)
  await marksOn(sha)
  await rows(
    app,
    `update run_marks
      set change = change + 1, next_attempt_at = 'infinity', posted = 'in_progress null Running'
      where run_id = $1`,
    [id],
  )
  await app.call('DELETE', `/v1/organizations/${app.org_id}/agent/run/${id}`)
  const write_request = github.requestOf(write)
  await rows(app, 'update run_marks set next_attempt_at = now() where number = $1', [id])
  await write_request
  expect(await marksOn(sha)).toEqual([[`${id}`, 'completed', 'neutral']])
  expect(await rows(app, 'select 1 from run_marks where number = $1', [id])).toEqual([])
}, 60_000)

test('the value of a secret in a comment appears nowhere in the trace', async () => {
  const value = 'hunter2-of-the-payroll-database'
  await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/PAYROLL`, { value })
  const payload = commentBy('ada', `@careful-agent the password is ${value}, try it`)
  payload.issue.title = `Is ${value} wrong?`
  await deliver(url, 'issue_comment', payload, { delivery: 'secret' })
  const id = await runOf('secret')
  const run = await awaitEnd(app, id)
  expect(run.title).toMatch(/^Is .+ wrong\?$/)
  const logs = await allLogs(app, id)
  expect(logs[1].observation.body).toMatch(/^@careful-agent the password is .+, try it$/)
  expect(JSON.stringify([run, logs])).not.toContain(value)
}, 60_000)

test('two requests about one issue that come at once go to one run', async () => {
  const comments = [commentBy('ada', '@careful-agent one'), commentBy('ada', '@careful-agent two')]
  await Promise.all(
    comments.map((payload, i) => deliver(url, 'issue_comment', payload, { delivery: `at-once-${i}` })),
  )
  const ids = [await runOf('at-once-0'), await runOf('at-once-1')]
  expect(ids[0]).toBe(ids[1])
  await awaitEnd(app, ids[0] ?? 0)
}, 60_000)

test('each comment is posted once, also when GitHub is busy or loses responses', async () => {
  const create = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
  github.play('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
    kind: 'secondary_limit',
    seconds: 1,
  })
  github.play(create, { kind: 'hang_up', when: 'after' }, { kind: 'status', status: 502 })
  await deliver(url, 'issue_comment', commentBy('ada', '@careful-agent go'), { delivery: 'busy' })
  const id = await runOf('busy')
  await awaitEnd(app, id)
  await expect.poll(async () => (await outcomeOf('busy'))?.open, { timeout: 50_000 }).toBe(false)
  expect(postedOn(number).map(([, text]) => text)).toEqual([
    expect.stringContaining('Working on it'),
    'Mended.',
  ])
  // Neither other work nor a poll of the run delays the next attempt.
  expect(await rows(app, `select tries from forge_deliveries where delivery = 'busy'`)).toEqual([
    { tries: 0 },
  ])
}, 90_000)

test('a person who writes the marker of an answer does not prevent the answer', async () => {
  const body = '<!-- agentrun: imitated begun --><!-- agentrun: imitated ended -->'
  github.state.comments.push({ id: comment_id++, number, user: 'eve', body })
  await deliver(url, 'issue_comment', commentBy('ada', '@careful-agent go'), { delivery: 'imitated' })
  await awaitEnd(app, await runOf('imitated'))
  await expect.poll(async () => (await outcomeOf('imitated'))?.open, { timeout: 30_000 }).toBe(false)
  expect(postedOn(number).map(([by, text]) => `${by}: ${text}`)).toEqual([
    `eve: ${body}`,
    expect.stringContaining('careful-agent[bot]: Working on it'),
    'careful-agent[bot]: Mended.',
  ])
}, 60_000)

test('a mention without a webhook is found by polling, once; revoked credentials are reported, and work again when restored', async () => {
  const { id } = await createRun(app, { prompt: 'write', title: 'Write it', repo_id })
  const { number: pr } = (await awaitEnd(app, id)).github_pull_requests[0]
  const poll = async () => {
    await rows(
      app,
      `update pull_requests
      set remote_seen_at = now() - interval '1 hour'
      where run_id = $1`,
      [id],
    )
    await rows(app, `update repositories set forge_seen_at = now() - interval '1 hour' where id = $1`, [
      repo_id,
    ])
  }
  const comment = (body: string, created_ms: number, updated_ms = created_ms, number = pr) => {
    const [created_at, updated_at] = [created_ms, updated_ms].map(ms => new Date(ms).toISOString())
    github.state.comments.push({ id: comment_id++, number, user: 'ada', body, created_at, updated_at })
  }
  const now = Date.now()
  comment('@careful-agent that is not what I wrote', now - 60_000, now - 30_000)
  comment('@careful-agent have you seen this?', now)
  comment('@careful-agent and this issue?', now, now, 9_001)
  await poll()
  const passed_on = () =>
    rows(
      app,
      `select 1
      from log_entries
      where run_id = $1 and message_type = 'USER_GITHUB_ISSUE_COMMENT'`,
      [id],
    )
  await expect.poll(async () => (await passed_on()).length, { timeout: 40_000 }).toBe(1)
  await awaitEnd(app, id)
  const begun = () =>
    rows<{ id: number }>(
      app,
      `select id
        from runs
        where title = 'It is broken' and source_type = 'GITHUB' and id > ${id}`,
    )
  await expect.poll(async () => (await begun()).length, { timeout: 40_000 }).toBe(1)
  await awaitEnd(app, (await begun())[0]?.id ?? 0)

  const connection = async () =>
    (await app.call('GET', `/v1/organizations/${app.org_id}/integrations`)).body.integrations[0]
  github.play(
    'GET /repos/{owner}/{repo}/pulls/{pull_number}',
    ...Array.from({ length: 8 }, () => ({ kind: 'status', status: 401 }) as const),
  )
  await poll()
  await expect.poll(async () => (await connection()).active, { timeout: 60_000 }).toBe(false)
  expect((await connection()).metadata.problem).toContain('401')
  await rows(
    app,
    `update ticks
    set taken_at = now() - interval '1 hour'
    where name = 'failing forges'`,
  )
  await expect.poll(async () => (await connection()).active, { timeout: 70_000 }).toBe(true)
  expect(await passed_on()).toHaveLength(1)
}, 200_000)

test('the state of a pull request on GitHub is its state here, in any order of webhooks; a merge without a webhook is found by polling', async () => {
  const { id } = await createRun(app, { prompt: 'write', title: 'Write it', repo_id })
  const run = await awaitEnd(app, id)
  const { number: pr } = run.github_pull_requests[0]
  const pull = github.state.pulls.find(one => one.number === pr)
  if (!pull) throw new Error('no pull request')
  const stateHere = async () =>
    (await app.call('GET', `/v1/organizations/${app.org_id}/prs?agent_run_id=${id}`)).body.items[0]
  const notify = (action: string) => deliver(url, 'pull_request', payloads.pullRequest(action, pr))
  pull.draft = true
  await notify('converted_to_draft')
  await expect.poll(async () => (await stateHere()).state, { timeout: 10_000 }).toBe('draft')
  github.state.checks.push({
    sha: github.state.sha(pull.head) ?? '',
    name: 'unit',
    app: 'ci',
    status: 'completed',
    conclusion: 'failure',
    summary: 'no',
  })
  pull.draft = false
  const merge_sha = github.state.merge(pull, 'Merge')
  await rows(
    app,
    `update pull_requests
    set remote_seen_at = now() - interval '1 hour'
    where run_id = $1`,
    [id],
  )
  await expect.poll(async () => (await stateHere()).state, { timeout: 40_000 }).toBe('merged')
  expect((await stateHere()).merge_sha).toBe(merge_sha)
  await notify('reopened')
  await expect
    .poll(
      async () =>
        (await rows(app, 'select 1 from checks where head_sha = $1', [github.state.sha(pull.head)])).length,
    )
    .toBe(1)
  expect((await stateHere()).state).toBe('merged')
}, 90_000)
