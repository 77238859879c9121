import { expect, test } from 'vitest'
import { rows } from '../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from './await-run.ts'
import { answers, calls, shell, startCodingApp } from './coding-app.ts'

test('a run that was removed from its pull request leaves it alone: a turn with nothing new proposes nothing, one with something new a pull request of its own', async () => {
  await using app = await startCodingApp(
    answers(
      calls(shell('echo one > one.txt')),
      { text: 'One.' },
      { text: 'Nothing to do.' },
      { text: 'Still nothing.' },
      calls(shell('cat one.txt; echo two > two.txt')),
      { text: 'Two.' },
    ),
  )
  const path = `/v1/organizations/${app.org_id}/agent/run`
  const { id } = await createRun(app, { prompt: 'write' })
  const first = await awaitEnd(app, id)
  const head = app.git('rev-parse', first.branch)
  await app.call('POST', `${path}/remove-from-pr`, { agent_run_id: id })

  for (const turn of [2, 3]) {
    await app.call('POST', `${path}/resume`, { agent_run_id: id, prompt: 'what now?' })
    const run = await awaitRun(app, id, item => item.turn === turn && item.terminal)
    expect(run).toMatchObject({ status: 'completed', branch: null, github_pull_requests: [] })
  }
  await app.call('POST', `${path}/resume`, { agent_run_id: id, prompt: 'more' })
  const last = await awaitRun(app, id, item => item.turn === 4 && item.terminal)
  expect(last, JSON.stringify(await allLogs(app, id))).toMatchObject({ status: 'completed', branch: `${first.branch}-2` })
  expect(last.github_pull_requests).toMatchObject([{ number: 2, head_branch_name: `${first.branch}-2`, state: 'open' }])
  expect(app.git('rev-parse', first.branch)).toBe(head)
  expect(app.git('diff', '--name-only', 'main', last.branch)).toBe('one.txt\ntwo.txt\n')
  const pull_requests = await rows(app, 'select number, run_id, head_sha from pull_requests order by number')
  expect(pull_requests).toMatchObject([
    { number: 1, run_id: null, head_sha: head.trim() },
    { number: 2, run_id: id },
  ])
}, 60_000)

test('after its pull request was merged a run goes on with a new branch and proposes only what is new', async () => {
  await using app = await startCodingApp(
    answers(calls(shell('echo one > one.txt')), { text: 'One.' }, calls(shell('echo two > two.txt')), { text: 'Two.' }),
  )
  const { id } = await createRun(app, { prompt: 'write' })
  const first = await awaitEnd(app, id)
  app.git('merge', '--quiet', '--ff-only', first.branch)
  await rows(app, `update pull_requests set state = 'merged' where run_id = $1`, [id])
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: id, prompt: 'more' })
  const run = await awaitRun(app, id, item => item.turn === 2 && item.terminal)
  expect(run, JSON.stringify(await allLogs(app, id))).toMatchObject({ status: 'completed', branch: `${first.branch}-2` })
  expect(run.github_pull_requests).toMatchObject([
    { number: 1, state: 'merged' },
    { number: 2, state: 'open', files_changed: 1 },
  ])
  expect(app.git('diff', '--name-only', 'main', run.branch)).toBe('two.txt\n')
}, 60_000)
