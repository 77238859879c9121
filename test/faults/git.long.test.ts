import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGitServer } from '../git/remotes/git-server.ts'
import { allLogs, awaitEnd, awaitRun, createRun, followRun } from '../runs/await-run.ts'
import { type CodingApp, calls, gitIn, makeRepository, shell, startCodingApp } from '../runs/coding-app.ts'
import { testFolder } from '../temporary-folder.ts'

type Remote = AsyncDisposable & {
  app: CodingApp
  remote: { away: boolean; requests: string[] }
  git(...args: string[]): string
}

/**
 * The service with a remote over HTTP that can be taken away: then every connection to it is cut. `write`:
 * what the agent does. `away_after`: it becomes unavailable when the agents of that many runs are done,
 * before any of them may push.
 */
async function startWithRemote(
  write: (n: number) => string,
  away_after = 0,
  env: Record<string, string> = {},
): Promise<Remote> {
  const stack = new AsyncDisposableStack()
  const root = testFolder()
  gitIn(root, 'clone', '--quiet', '--bare', makeRepository(), 'app.git')
  const state = { away: false }
  const server = stack.use(
    await startGitServer(root, request => {
      if (state.away) request.socket.destroy()
      return state.away
    }),
  )
  const remote = {
    requests: server.requests,
    get away() {
      return state.away
    },
    set away(away) {
      state.away = away
    },
  }
  const all_done = Promise.withResolvers<void>()
  let done = 0
  const app = stack.use(
    await startCodingApp(
      async ({ body }, n) => {
        if (!JSON.stringify(body.messages).includes('"role":"tool"')) return calls(shell(write(n)))
        done += 1
        if (done === away_after) state.away = true
        if (done >= away_after) all_done.resolve()
        await all_done.promise
        return { text: 'Done.' }
      },
      { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_INIT_REPO_URL: `${server.url}/app.git`, ...env },
    ),
  )
  const git = (...args: string[]) => gitIn(join(root, 'app.git'), ...args)
  return { app, remote, git, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const errorsOf = async (app: CodingApp, id: number) =>
  (await allLogs(app, id)).filter(entry => entry.message_type === 'ERROR').map(entry => entry.observation)

/** Until the trace shows that the push is waited for. */
async function untilPushWaits(app: CodingApp, id: number) {
  for await (const { event, data } of followRun(app, id))
    if (event === 'log' && data.observation?.code === 'push_unreachable') return
}
const resume = (app: CodingApp, id: number) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: id, prompt: 'go on' })

test('fault 26: a remote that is down at the clone is tried three times, each wait reported before it, then the run is failed/git_unavailable, and a resume begins where it is up', async () => {
  await using set = await startWithRemote(() => 'echo x > x.txt')
  const { app, remote } = set
  remote.away = true
  const { id } = await createRun(app, { prompt: 'write' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    status_reason: 'git_unavailable',
    base_sha: null,
    total_logs: 4,
  })
  const failure = { code: 'unreachable', phase: 'clone', retryable: true }
  expect(await errorsOf(app, id)).toMatchObject([
    { ...failure, attempt: 1, retry_in_ms: expect.any(Number) },
    { ...failure, attempt: 2, retry_in_ms: expect.any(Number) },
    failure,
  ])
  expect(app.model.requests).toHaveLength(0)
  remote.away = false
  await resume(app, id)
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    turn: 2,
    github_pull_requests: [{ number: 1 }],
  })
})

test('fault 26: a remote that is down for a moment costs a run one wait', async () => {
  await using set = await startWithRemote(() => 'true')
  const { app, remote } = set
  remote.away = true
  const { id } = await createRun(app, { prompt: 'look' })
  for await (const { event, data } of followRun(app, id))
    if (event === 'log' && data.message_type === 'ERROR') break
  remote.away = false
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
  expect((await errorsOf(app, id)).every(error => error.retryable)).toBe(true)
})

test('fault 27: a remote that is down at the push is waited for in phase push; the run can be stopped and resumed meanwhile, and what it committed arrives once', async () => {
  await using set = await startWithRemote(n => `echo ${n} > ${n}.txt`, 2)
  const { app, remote, git } = set
  const [waiting, stopped] = [
    await createRun(app, { prompt: 'wait' }),
    await createRun(app, { prompt: 'stop' }),
  ]
  await Promise.all([waiting, stopped].map(({ id }) => untilPushWaits(app, id)))
  for (const { id } of [waiting, stopped])
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body).toMatchObject({
      status: 'running',
      phase: 'push',
      github_pull_requests: [],
      branch: null,
    })
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: stopped.id })
  expect(await awaitEnd(app, stopped.id)).toMatchObject({ status: 'cancelled', github_pull_requests: [] })

  remote.away = false
  const done = await awaitEnd(app, waiting.id)
  expect(done).toMatchObject({
    status: 'completed',
    result: 'Done.',
    turn: 1,
    github_pull_requests: [{ files_changed: 1 }],
  })
  expect((await errorsOf(app, waiting.id))[0]).toMatchObject({
    retryable: true,
    phase: 'push',
    attempt: 1,
    retry_in_ms: expect.any(Number),
  })
  expect(
    (await allLogs(app, waiting.id)).filter(entry => entry.message_type === 'PR_CREATION_FAILED'),
  ).toEqual([])
  expect(git('rev-list', '--count', `main..${done.branch}`)).toBe('1\n')

  await resume(app, stopped.id)
  const resumed = await awaitRun(app, stopped.id, run => run.turn === 2 && run.terminal)
  expect(resumed).toMatchObject({ status: 'completed', github_pull_requests: [{ files_changed: 1 }] })
  expect(git('rev-list', '--count', `main..${resumed.branch}`)).toBe('1\n')
})

test('fault 27: runs whose push waits occupy no slot of another run', async () => {
  await using set = await startWithRemote(n => `echo ${n} > ${n}.txt`, 1, {
    AGENTRUN_WORKER_CONCURRENCY: '1',
  })
  const { app } = set
  const { id } = await createRun(app, { prompt: 'wait' })
  await untilPushWaits(app, id)
  const beside = await createRun(app, { prompt: 'beside', repo_id: null, repoless: true })
  expect(await awaitEnd(app, beside.id)).toMatchObject({ status: 'completed', result: 'Done.' })
  expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body).toMatchObject({
    status: 'running',
    phase: 'push',
  })
})

test('fault 27: when the time for it is over the run is failed/git_unavailable with what was tried, and a resume pushes what is there', async () => {
  await using set = await startWithRemote(() => 'echo x > x.txt', 1, { AGENTRUN_PUSH_RETRY_SECONDS: '2' })
  const { app, remote } = set
  const { id } = await createRun(app, { prompt: 'write' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    status_reason: 'git_unavailable',
    error: { code: 'push_unreachable' },
  })
  expect((await allLogs(app, id)).map(entry => entry.message_type).slice(-3)).toEqual([
    'ACTION',
    'PR_CREATION_FAILED',
    'ERROR',
  ])
  remote.away = false
  await resume(app, id)
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    turn: 2,
    github_pull_requests: [{ files_changed: 1 }],
  })
})

test('fault 28: a push that the remote refuses is not forced and not retried; result and trace report it', async () => {
  await using set = await startWithRemote(() => 'echo x > x.txt')
  const { app, git } = set
  writeFileSync(
    join(git('rev-parse', '--absolute-git-dir').trim(), 'hooks/pre-receive'),
    '#!/bin/sh\necho "quota used up"; exit 1\n',
    {
      mode: 0o755,
    },
  )
  const { id } = await createRun(app, { prompt: 'write' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    result: expect.stringContaining('quota used up'),
    branch: null,
  })
  const logs = await allLogs(app, id)
  expect(logs.filter(entry => entry.tool_name === 'git_push').map(entry => entry.message_type)).toEqual([
    'ACTION',
    'ERROR',
    'PR_CREATION_FAILED',
  ])
  expect(await errorsOf(app, id)).toMatchObject([{ code: 'push_rejected', retryable: false, phase: 'push' }])

  // Where no pull request was requested, none has failed.
  const alone = await createRun(app, { prompt: 'write', auto_create_pr: false })
  expect(await awaitEnd(app, alone.id)).toMatchObject({
    status: 'completed',
    result: expect.stringContaining('quota used up'),
  })
  const pushes = (await allLogs(app, alone.id)).filter(entry => entry.tool_name === 'git_push')
  expect(pushes.map(entry => entry.message_type)).toEqual(['ACTION', 'ERROR'])
})
