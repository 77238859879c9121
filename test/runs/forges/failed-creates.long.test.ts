import { expect, test } from 'vitest'
import { connectFake } from '../../forge/connect.ts'
import { startFakeGitHub } from '../../forge/fake-github.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { calls, finish, shell, startCodingApp } from '../coding-app.ts'

const CREATE = 'POST /repos/{owner}/{repo}/pulls'
const SETTINGS = {
  AGENTRUN_ALLOW_PRIVATE_GIT: '1',
  AGENTRUN_PUSH_RETRY_SECONDS: '20',
  AGENTRUN_CI_FIRST_SECONDS: '0',
}
/** Every turn writes a new file. */
const startApp = () =>
  startCodingApp(
    ({ body }) =>
      (body.messages as { role: string }[]).at(-1)?.role === 'tool'
        ? finish('Written.')
        : calls(shell('date +%s%N > made.txt')),
    SETTINGS,
  )
type App = Awaited<ReturnType<typeof startApp>>

async function failuresOf(app: App, id: number): Promise<object[]> {
  const failed = (await allLogs(app, id)).filter(entry => entry.message_type === 'PR_CREATION_FAILED')
  return failed.map(({ tool_name, observation }) => ({ tool_name, ...observation }))
}

test.each([
  [
    'it fails after the work was done, and again before it',
    [
      { kind: 'hang_up', when: 'after' },
      { kind: 'status', status: 502 },
    ],
  ],
  [
    'it is busy',
    [
      { kind: 'secondary_limit', seconds: 1 },
      { kind: 'primary_limit', seconds: 1 },
    ],
  ],
  [
    'it fails',
    [
      { kind: 'status', status: 500 },
      { kind: 'hang_up', when: 'before' },
    ],
  ],
] as const)(
  'one pull request where %s',
  async (_what, faults) => {
    await using github = await startFakeGitHub()
    await using app = await startApp()
    const repo_id = await connectFake(app, github)
    github.play(CREATE, ...faults)
    const { id } = await createRun(app, { prompt: 'write', title: 'Write it', repo_id })
    const run = await awaitEnd(app, id)
    expect(run, JSON.stringify(run.error)).toMatchObject({
      status: 'completed',
      status_reason: null,
      result: 'Written.',
    })
    expect(github.state.pulls).toHaveLength(1)
    expect(run.github_pull_requests).toMatchObject([{ number: 100 }])
    const failures = await failuresOf(app, id)
    expect(failures.length).toBeGreaterThan(0)
    for (const failure of failures)
      expect(failure).toMatchObject({
        tool_name: 'create_pull_request',
        retryable: true,
        attempt: expect.any(Number),
        code: expect.any(String),
      })
    expect(github.mistakes).toEqual([])
  },
  60_000,
)

test('a forge that requests a longer pause than the turn waits is retried by the next turn, and a waiting run can be stopped', async () => {
  await using github = await startFakeGitHub()
  await using app = await startApp()
  const repo_id = await connectFake(app, github)
  const create = () => createRun(app, { prompt: 'write', title: 'Write it', repo_id })
  github.play(CREATE, { kind: 'secondary_limit', seconds: 600 })
  const late = await create()
  expect(await awaitEnd(app, late.id)).toMatchObject({
    status: 'completed',
    status_reason: 'pull_request_refused',
    result: expect.stringMatching(/^Written\.\n\nThe branch is pushed, but .* 403/),
  })
  const [failed, ...more] = await failuresOf(app, late.id)
  expect([failed, more]).toMatchObject([
    { code: 'rate_limited', http_status: 403, retryable: true, attempt: 1 },
    [],
  ])
  expect(failed).not.toHaveProperty('retry_in_ms')
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: late.id,
    prompt: 'more',
  })
  expect((await awaitEnd(app, late.id)).github_pull_requests).toMatchObject([{ number: 100 }])

  github.play(CREATE, { kind: 'secondary_limit', seconds: 15 })
  const { id } = await create()
  await expect.poll(() => failuresOf(app, id), { timeout: 30_000 }).toHaveLength(1)
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
  expect((await awaitEnd(app, id)).status).toBe('cancelled')
  expect(github.state.pulls).toHaveLength(1)
  expect(github.mistakes).toEqual([])
}, 90_000)
