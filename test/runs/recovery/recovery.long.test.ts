import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SESSION_NAME } from '../../../src/store/leases/worker-sessions.ts'
import { calls, gitIn, responses, shell } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'
import { type Cluster, logsOf, recoveryOf, startApiCluster, startCluster, stateOf } from './cluster.ts'

/** The other worker has the run: the lease of the first has ended. */
const claimedAgain = (cluster: Cluster, id: number, epoch: number) =>
  expect
    .poll(
      async () =>
        (
          await cluster.rows<{ epoch: number }>(
            'select epoch from runs where id = $1 and owner is not null',
            [id],
          )
        )[0]?.epoch ?? 0,
      {
        timeout: 30_000,
      },
    )
    .toBeGreaterThan(epoch)

test('fault 4: kill -9 of the worker in a model call: the call is repeated, and both are counted', async () => {
  await using cluster = await startCluster((_request, n) =>
    n === 0 ? { stall: 'before_body' } : { text: 'Second time.' },
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'think' })
  await expect.poll(() => cluster.model.requests.length, { timeout: 20_000 }).toBe(1)
  await cluster.until(id, run => run.status === 'running')
  first.child.kill('SIGKILL')
  await cluster.start('work')
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({
    status: 'completed',
    result: 'Second time.',
  })
  expect(await stateOf(cluster, id)).toEqual(['model reissued', 'model committed', 'model committed'])
  expect((await recoveryOf(cluster, id)).recoveries).toMatchObject([
    { model_call_reissued: true, interrupted: [] },
  ])
}, 90_000)

test('fault 8: a worker that was frozen and comes back changes nothing, ends its sandbox, and works on other runs', async () => {
  await using cluster = await startCluster(
    responses(
      calls(shell('echo one > one.txt')),
      calls(shell('sleep 1000')),
      calls(shell('echo two > two.txt')),
      { text: 'By the second.' },
      {
        text: 'By the first.',
      },
    ),
  )
  const frozen = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'freeze' })
  await cluster.until(id, run => run.total_logs >= 3 && cluster.model.requests.length === 2)
  const [claim] = await cluster.rows<{ epoch: number }>('select epoch from runs where id = $1', [id])
  frozen.child.kill('SIGSTOP')
  const second = await cluster.start('work')
  await claimedAgain(cluster, id, claim?.epoch ?? 0)
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({ status: 'completed', result: 'By the second.' })
  expect(sandboxProcesses(frozen.data_dir)).toEqual([])
  const before = [
    await logsOf(cluster, id),
    await cluster.rows('select * from journal where run_id = $1 order by n', [id]),
  ]
  second.child.kill('SIGTERM')
  await second.ended

  frozen.child.kill('SIGCONT')
  const next = await cluster.createRun({ prompt: 'next' })
  expect(await cluster.until(next.id, ({ terminal }) => terminal)).toMatchObject({
    status: 'completed',
    result: 'By the first.',
  })
  expect(await cluster.getRun(id)).toEqual(run)
  expect([
    await logsOf(cluster, id),
    await cluster.rows('select * from journal where run_id = $1 order by n', [id]),
  ]).toEqual(before)
  expect(gitIn(cluster.repository, 'show', `${run.branch}:two.txt`)).toBe('two\n')
  expect(existsSync(frozen.data_dir)).toBe(true)
}, 120_000)

test('I8: the sandbox of a frozen worker is removed while it is frozen, when its run continues on a machine that cannot end it', async () => {
  await using cluster = await startCluster(
    responses(calls(shell('echo one > one.txt; sleep 1000')), { text: 'By the second.' }),
  )
  const frozen = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'freeze' })
  await expect.poll(() => sandboxProcesses(frozen.data_dir).length, { timeout: 20_000 }).toBeGreaterThan(2)
  await cluster.until(id, run => run.waiting_on === 'tool')
  frozen.child.kill('SIGSTOP')
  // As seen by another machine, which has another boot id and other processes.
  await cluster.rows(
    `update runs
      set sandbox = 'another-boot pid:[1] 1 1', workspace_host = 'another-machine'
      where id = $1`,
    [id],
  )
  await cluster.start('work')
  expect(await cluster.until(id, ({ terminal }) => terminal)).toMatchObject({
    status: 'completed',
    result: 'By the second.',
  })
  await expect.poll(() => sandboxProcesses(frozen.data_dir), { timeout: 20_000 }).toEqual([])
  expect(readFileSync(`/proc/${frozen.child.pid}/status`, 'utf8')).toMatch(/^State:\s+T/m)
}, 90_000)

test('a worker that was frozen and that no other replaced continues its run when it thaws', async () => {
  await using cluster = await startApiCluster(responses(calls(shell('sleep 1000')), { text: 'By itself.' }))
  const worker = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'freeze alone' })
  await cluster.until(id, run => run.waiting_on === 'tool')
  for (const { child } of [worker, cluster.api]) child.kill('SIGSTOP')
  await expect.poll(() => sandboxProcesses(worker.data_dir), { timeout: 30_000 }).toEqual([])
  for (const { child } of [worker, cluster.api]) child.kill('SIGCONT')
  expect(await cluster.until(id, ({ terminal, status }) => terminal || status === 'paused')).toMatchObject({
    status: 'completed',
    result: 'By itself.',
  })
}, 90_000)

test('a run whose workers die one after the other ends as lost, with the last step closed, and can be resumed', async () => {
  await using cluster = await startCluster(
    (_request, n) =>
      [calls(shell('sleep 1000')), { stall: 'before_body' } as const][n] ?? { text: 'Resumed.' },
    {
      AGENTRUN_RUN_MAX_RECOVERIES: '1',
    },
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'poison' })
  await expect.poll(() => sandboxProcesses(first.data_dir).length, { timeout: 20_000 }).toBeGreaterThan(2)
  first.child.kill('SIGKILL')
  const second = await cluster.start('work')
  await expect.poll(() => cluster.model.requests.length, { timeout: 30_000 }).toBe(2)
  second.child.kill('SIGKILL')
  await cluster.start('work')
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({
    status: 'failed',
    status_reason: 'lost',
  })
  const logs = await logsOf(cluster, id)
  expect(logs.at(-1)).toMatchObject({ message_type: 'ERROR', observation: { code: 'lost', retryable: true } })
  await cluster.call('POST', '/run/resume', { agent_run_id: id, prompt: 'go on' })
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({
    status: 'completed',
    turn: 2,
    result: 'Resumed.',
  })
}, 120_000)

test('a worker that is killed loses its runs before its leases end; one that only loses its session keeps them', async () => {
  await using cluster = await startCluster(
    responses(calls(shell('echo one; sleep 1000')), calls(shell('sleep 3; echo two')), { text: 'Done.' }),
  )
  for (const role of ['work', 'work'] as const) await cluster.start(role)
  const { id } = await cluster.createRun({ prompt: 'survive', repo_id: null, repoless: true })
  await cluster.until(id, run => run.waiting_on === 'tool' && cluster.model.requests.length === 1)
  const [owned] = await cluster.rows<{ owner: string }>('select owner from runs where id = $1', [id])
  process.kill(Number(owned?.owner.split('-')[0]), 'SIGKILL')
  // No worker renews the lease now.
  const [lease] = await cluster.rows<{ lease_until: Date | null }>(
    'select lease_until from runs where id = $1 and recovering_since is null',
    [id],
  )
  await cluster.until(id, run => run.waiting_on === 'tool' && cluster.model.requests.length === 2)
  const [recovered] = await cluster.rows<{ body: string }>(
    `select body from journal where run_id = $1 and kind = 'recovered'`,
    [id],
  )
  const { since } = JSON.parse(recovered?.body ?? '{}') as { since: string }
  expect(new Date(since).getTime()).toBeLessThan(lease?.lease_until?.getTime() ?? 0)

  const sessions = `select l.pid
    from pg_locks l
    join pg_stat_activity a using (pid)
    where l.locktype = 'advisory'
      and l.mode = 'ShareLock'
      and a.application_name = $1
      and a.datname = current_database()`
  const before = await cluster.rows<{ pid: number }>(sessions, [SESSION_NAME])
  expect(before).toHaveLength(1)
  await cluster.rows('select pg_terminate_backend($1)', [before[0]?.pid])
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({ status: 'completed', result: 'Done.' })
  const after = await cluster.rows<{ pid: number }>(sessions, [SESSION_NAME])
  expect(after).toHaveLength(1)
  expect(after).not.toEqual(before)
  expect(
    (await cluster.rows(`select 1 from journal where run_id = $1 and kind = 'recovered'`, [id])).length,
  ).toBe(1)
}, 120_000)
