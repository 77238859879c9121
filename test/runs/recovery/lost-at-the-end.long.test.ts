import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { calls, gitIn, responses, shell } from '../coding-app.ts'
import { type Cluster, startCluster } from './cluster.ts'

/** The start of the command is recorded. */
const begun = (cluster: Cluster, id: number) =>
  expect
    .poll(
      async () =>
        (await cluster.rows(`select 1 from journal where run_id = $1 and kind = 'tool_started'`, [id]))
          .length,
      {
        timeout: 20_000,
      },
    )
    .toBe(1)

test('fault 6: kill -9 of the worker in the push: one with other mirrors pushes the same commit, and there is one pull request', async () => {
  await using cluster = await startCluster(
    responses(calls(shell('echo late > late.txt')), { text: 'Written.' }),
  )
  const hook = join(cluster.repository, '.git/hooks/pre-receive')
  writeFileSync(hook, '#!/bin/sh\nsleep 60\n', { mode: 0o755 })
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'write late' })
  await cluster.until(id, run => run.phase === 'push')
  const pushing = `select head_sha from runs where id = $1 and head_sha is not null`
  await expect.poll(async () => (await cluster.rows(pushing, [id])).length, { timeout: 20_000 }).toBe(1)
  const [before] = await cluster.rows<{ head_sha: string }>(pushing, [id])
  first.child.kill('SIGKILL')
  rmSync(hook)
  rmSync(first.data_dir, { recursive: true, force: true })
  await cluster.start('work')
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({
    status: 'completed',
    result: 'Written.',
    github_pull_requests: [{ number: 1 }],
  })
  expect(gitIn(cluster.repository, 'rev-parse', String(run.branch)).trim()).toBe(before?.head_sha)
  expect(cluster.model.requests).toHaveLength(2)
}, 90_000)

test('a run that is stopped while it waits for another worker has its last command in the trace, and nothing of it is open', async () => {
  await using cluster = await startCluster(responses(calls(shell('sleep 1000'))))
  const only = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'wait' })
  await begun(cluster, id)
  only.child.kill('SIGKILL')
  await cluster.until(id, run => run.status === 'queued')
  await cluster.call('POST', '/run/stop', { agent_run_id: id })
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({ status: 'cancelled' })
  const { logs } = (await cluster.call('GET', `/run/${id}/logs`)).body
  expect(logs.at(-1)).toMatchObject({ tool_name: 'shell', tool_output: { status: 'interrupted' } })
  expect((await cluster.call('GET', `/run/${id}/recovery`)).body.counts).toMatchObject({
    open: 0,
    interrupted: 1,
  })
}, 60_000)

test('the same holds for a run whose deadline passes while it waits for another worker', async () => {
  await using cluster = await startCluster(responses(calls(shell('sleep 1000'))))
  const only = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'wait' })
  await begun(cluster, id)
  only.child.kill('SIGKILL')
  await cluster.until(id, run => run.status === 'queued')
  await cluster.rows('update runs set deadline_at = now() where id = $1', [id])
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({
    status: 'failed',
    status_reason: 'timeout',
  })
  const { logs } = (await cluster.call('GET', `/run/${id}/logs`)).body
  expect(logs.at(-2)).toMatchObject({ tool_name: 'shell', tool_output: { status: 'interrupted' } })
}, 60_000)
