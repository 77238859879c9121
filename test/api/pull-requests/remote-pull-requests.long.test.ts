import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectFake } from '../../forge/connect.ts'
import { type FakeGitHub, startFakeGitHub } from '../../forge/fake-github.ts'
import type { FakePull } from '../../forge/fake-state.ts'
import { awaitEnd, createRun } from '../../runs/await-run.ts'
import { type CodingApp, calls, gitIn, shell, startCodingApp } from '../../runs/coding-app.ts'
import { rows } from '../../start-app.ts'
import { expectProblem } from '../expect-problem.ts'

const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge'
const GET = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'

let app: CodingApp
let github: FakeGitHub
let repo_id: number
beforeAll(async () => {
  app = await startCodingApp(
    ({ body }) =>
      (body.messages as { role: string }[]).at(-1)?.role === 'tool'
        ? { text: 'Written.' }
        : calls(shell('date +%s%N > $RANDOM.txt')),
    { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_CI_FIRST_SECONDS: '0' },
  )
  github = await startFakeGitHub()
  repo_id = await connectFake(app, github)
})
afterAll(async () => {
  expect(github.mistakes).toEqual([])
  await app[Symbol.asyncDispose]()
  await github[Symbol.asyncDispose]()
})

/** A pull request of a run, in the service and on the forge. */
let pr: { path: string; pull: FakePull; run_id: number }
beforeEach(async () => {
  const { id } = await createRun(app, { prompt: 'write', title: 'Write it', repo_id })
  await awaitEnd(app, id)
  const [found] = (await app.call('GET', `/v1/organizations/${app.org_id}/prs?agent_run_id=${id}`)).body.items
  const pull = github.state.pulls.find(({ number }) => number === found.number)
  if (!pull) throw new Error('no pull request')
  pr = { path: `/v1/organizations/${app.org_id}/prs/${found.id}`, pull, run_id: id }
})
const here = async () => (await app.call('GET', pr.path)).body

test('text, base and state are changed on the forge and in the service; a change that the forge refuses is applied in neither', async () => {
  const edit = (body: unknown) => app.call('PATCH', pr.path, body)
  expect((await edit({ title: 'Another', body: 'More words' })).body).toMatchObject({ success: true })
  expect(pr.pull).toMatchObject({ title: 'Another', body: 'More words' })
  for (const [state, is] of [
    ['draft', ['open', true]],
    ['ready_for_review', ['open', false]],
    ['closed', ['closed', false]],
    ['open', ['open', false]],
  ] as const) {
    expect((await edit({ state })).body).toMatchObject({ success: true })
    expect([state, pr.pull.state, pr.pull.draft]).toEqual([state, ...is])
  }
  github.play('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { kind: 'status', status: 403 })
  expect((await edit({ state: 'closed' })).body).toMatchObject({
    success: false,
    state: 'open',
    error: 'GitHub responded with 403: Server Error',
  })
  expect([(await here()).state, pr.pull.state]).toEqual(['open', 'open'])
}, 60_000)

test('it is merged by the forge itself, once, also when the response is lost', async () => {
  github.play(MERGE, { kind: 'hang_up', when: 'after' })
  const merged = await app.call('POST', `${pr.path}/merge`, { method: 'merge' })
  expect(merged).toMatchObject({ status: 200, body: { state: 'merged', merge_sha: pr.pull.merged_sha } })
  expect(gitIn(github.folder, 'rev-parse', 'main').trim()).toBe(pr.pull.merged_sha)
  const requested = github.count(MERGE)
  expect((await app.call('POST', `${pr.path}/merge`)).body.merge_sha).toBe(pr.pull.merged_sha)
  expect(github.count(MERGE)).toBe(requested)
}, 60_000)

test('a merge is refused with the message of the forge, and never merges an unseen newer head', async () => {
  expectProblem(await app.call('POST', `${pr.path}/merge`, { expected_head_sha: 'f'.repeat(40) }), 409)
  github.play(MERGE, { kind: 'status', status: 405 })
  expect(expectProblem(await app.call('POST', `${pr.path}/merge`), 409).detail).toContain(
    'GitHub responded with 405',
  )
  github.play(GET, { kind: 'secondary_limit', seconds: 3 })
  expectProblem(await app.call('POST', `${pr.path}/merge`), 503)
  pr.pull.state = 'closed'
  expectProblem(await app.call('POST', `${pr.path}/merge`), 409)
  expect((await here()).state).toBe('closed')
}, 60_000)

test('comments are posted on the forge, once, in order, also after an outage of the forge; edits and deletions follow', async () => {
  const path = `${pr.path}/comments`
  const create = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
  const there = () =>
    github.state.comments.filter(({ number }) => number === pr.pull.number).map(({ body }) => body)
  const here = async () =>
    (await app.call('GET', path)).body.items.map((item: { forge_state: string }) => item.forge_state)
  const settled = (...states: string[]) => expect.poll(here, { timeout: 30_000 }).toEqual(states)
  // A comment of another account with our marker is not ours.
  const next = ((
    await rows<{ id: number }>(app, 'select coalesce(max(id), 0) + 1 as id from pull_request_comments')
  )[0]?.id ?? 0) as number
  const forged = `<!-- agentrun: comment ${next} -->`
  github.state.comments.push({ id: 1, number: pr.pull.number, user: 'eve', body: forged })
  github.play(create, { kind: 'hang_up', when: 'after' }, { kind: 'status', status: 502 })
  const first = (await app.call('POST', path, { body: 'Why **so**?', path: 'a.txt', line: 3 })).body
  expect(first).toMatchObject({ id: next, forge_state: 'pending', forge_error: null })
  const second = (await app.call('POST', path, { body: `And @agent-bot why there? ${forged}` })).body
  await settled('posted', 'posted')
  expect(there().slice(1)).toEqual([
    expect.stringContaining(
      `commented about \`a.txt:3\` in [agentrun](${app.base_url}/agent/trace/${pr.run_id}):\n\nWhy **so**?`,
    ),
    expect.stringContaining('And @agent-bot why there?'),
  ])
  expect(github.count(create)).toBe(3)

  expect((await app.call('PATCH', `${path}/${first.id}`, { body: 'Never mind.' })).body.forge_state).toBe(
    'pending',
  )
  await settled('posted', 'posted')
  expect(there()[1]).toContain('Never mind.')
  await app.call('DELETE', `${path}/${second.id}`)
  await expect.poll(() => there().length, { timeout: 30_000 }).toBe(2)
  expect(there()[0]).toBe(forged)
  await expect
    .poll(() => rows(app, 'select comment_id from comment_mirrors'))
    .toEqual([{ comment_id: first.id }])

  const refusal = { kind: 'status', status: 403 } as const
  github.play(create, refusal)
  await app.call('POST', path, { body: 'Once more.' })
  await rows(app, 'update comment_mirrors set tries = 10 where posted_change = 0')
  await settled('posted', 'refused')
  expect((await app.call('GET', path)).body.items[1].forge_error).toContain('403')
}, 120_000)
