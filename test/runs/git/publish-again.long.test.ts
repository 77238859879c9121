import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { calls, finish, makeRepository, responses, shell, startCodingApp } from '../coding-app.ts'

const resume = '/agent/run/resume'

test('a branch that could not be pushed is pushed and proposed by the next turn, though that turn changes nothing', async () => {
  const repository = makeRepository()
  const away = `${repository}.away`
  const script = [
    () => calls(shell('echo pushme > pushme.txt')),
    () => {
      renameSync(repository, away)
      return { text: 'Wrote it.' }
    },
  ]
  await using app = await startCodingApp(
    (_request, n) => script[n]?.() ?? finish('Still there.'),
    {},
    repository,
  )
  const { id } = await createRun(app, { prompt: 'write' })
  const failed = await awaitEnd(app, id)
  expect(failed).toMatchObject({
    status: 'failed',
    status_reason: 'git_unavailable',
    github_pull_requests: [],
  })
  renameSync(away, app.repository)
  await app.call('POST', `/v1/organizations/${app.org_id}${resume}`, {
    agent_run_id: id,
    prompt: 'try again',
  })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    turn: 2,
    github_pull_requests: [{ number: 1, files_changed: 1 }],
  })
  expect(app.git('show', `${run.branch}:pushme.txt`)).toBe('pushme\n')
  const entries = (await allLogs(app, id))
    .filter(entry => entry.turn === 2)
    .map(entry => entry.tool_name ?? entry.message_type)
  expect(entries).toEqual([
    'USER_MESSAGE',
    'git_push',
    'INITIAL_PR_GENERATION',
    'PR_EVALUATION',
    'FINAL_ANSWER',
  ])
}, 60_000)

test('a branch that the remote refused is pushed again, and a third turn without changes pushes nothing', async () => {
  const repository = makeRepository()
  const hook = join(repository, '.git/hooks/pre-receive')
  writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  await using app = await startCodingApp(
    responses(calls(shell('echo x > x.txt')), { text: 'One.' }, finish('Two.'), finish('Three.')),
    {},
    repository,
  )
  const path = `/v1/organizations/${app.org_id}${resume}`
  const { id } = await createRun(app, { prompt: 'one' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [],
    branch: null,
  })
  rmSync(hook)
  await app.call('POST', path, { agent_run_id: id, prompt: 'two' })
  expect(await awaitRun(app, id, run => run.turn === 2 && run.terminal)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ number: 1 }],
    branch: expect.stringMatching(/^agent\/run-/),
  })
  await app.call('POST', path, { agent_run_id: id, prompt: 'three' })
  expect(await awaitRun(app, id, run => run.turn === 3 && run.terminal)).toMatchObject({
    status: 'completed',
    result: 'Three.',
  })
  const third = (await allLogs(app, id))
    .filter(entry => entry.turn === 3)
    .map(entry => entry.tool_name ?? entry.message_type)
  expect(third).toEqual(['USER_MESSAGE', 'FINAL_ANSWER'])
})
