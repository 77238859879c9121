// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { expect, test } from 'vitest'
import { calls, gitIn, responses, shell } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'
import { type Cluster, startCluster } from './cluster.ts'

const HELD = 4_711
const logsOf = async (cluster: Cluster, id: number): Promise<any[]> =>
  (await cluster.call('GET', `/run/${id}/logs`)).body.logs
const checkBy = async (cluster: Cluster, command: string) => {
  const [repository] = await cluster.rows<{ id: number }>('select id from repositories')
  const response = await cluster.call('PUT', `/../repos/${repository?.id}/checks`, {
    checks: [{ name: 'test', command }],
  })
  expect(response.status).toBe(200)
}

/** Makes the next writer of such a record wait until it is released. */
async function hold(cluster: Cluster, condition: string) {
  await cluster.rows(`create function wait_to_write() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock_shared(${HELD}); return new; end $$`)
  await cluster.rows(
    `create trigger wait_to_write before insert on journal for each row when (${condition}) execute function wait_to_write()`,
  )
  const holder = await cluster.db.pool.connect()
  await holder.query(`select pg_advisory_lock(${HELD})`)
  const waiting = `select pid
    from pg_locks
    where locktype = 'advisory' and objid = ${HELD} and not granted`
  return {
    reached: () => expect.poll(async () => (await cluster.rows(waiting)).length, { timeout: 30_000 }).toBe(1),
    /** The waiting write is executed or not. */
    async release(written: boolean) {
      if (!written) await cluster.rows(`select pg_terminate_backend(pid) from (${waiting}) w`)
      await holder.query(`select pg_advisory_unlock(${HELD})`)
      holder.release()
    },
  }
}

/**
 * One attempt, reported once; each check of each commit with one outcome; the fixing commit on the branch,
 * and one pull request of it.
 */
async function expectOnce(cluster: Cluster, id: number) {
  const run = await cluster.until(id, ({ terminal }) => terminal)
  const logs = await logsOf(cluster, id)
  expect(run, JSON.stringify(logs.slice(-3))).toMatchObject({ status: 'completed', turn: 1 })
  const [pr] = run.github_pull_requests
  const of = (type: string) => logs.filter(entry => entry.message_type === type)
  expect(of('DETECT_PR_ERRORS').map(entry => entry.observation)).toMatchObject([
    { pr_number: pr?.number, attempt: 1 },
  ])
  expect(of('FIX_PR_ERRORS').map(entry => entry.observation)).toMatchObject([
    { to_sha: pr?.head_sha, fixed_checks: ['test'], remaining_checks: [], stopped_because: null },
  ])
  expect(of('FINAL_ANSWER')).toHaveLength(1)
  const outcomes = logs
    .filter(entry => entry.tool_name === 'check')
    .map(entry => entry.tool_output.conclusion)
  expect(outcomes).toEqual(['failure', 'success'])
  expect(await cluster.rows('select conclusion, attempt from checks order by id')).toEqual([
    { conclusion: 'failure', attempt: 1 },
    { conclusion: 'success', attempt: 1 },
  ])
  expect(gitIn(cluster.repository, 'show', `${run.branch}:two.txt`)).toBe('2\n')
}

const script = () =>
  responses(calls(shell('echo 1 >one.txt')), { text: 'One.' }, calls(shell('echo 2 >two.txt')), {
    text: 'Two.',
  })

test('kill -9 in the middle of a check: the next worker runs it again as the same attempt, and each outcome counts once', async () => {
  await using cluster = await startCluster(script())
  await checkBy(cluster, 'sleep 1000')
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'work' })
  await cluster.until(id, run => run.phase === 'evaluate')
  await expect
    .poll(async () => (await cluster.rows(`select 1 from checks where status = 'in_progress'`)).length, {
      timeout: 30_000,
    })
    .toBe(1)
  first.child.kill('SIGKILL')
  await first.ended
  await expect.poll(() => sandboxProcesses(first.data_dir), { timeout: 30_000 }).toEqual([])
  await checkBy(cluster, 'test -e two.txt')
  await cluster.start('work')
  await expectOnce(cluster, id)
}, 90_000)

const moments = [
  [
    'the failed check is',
    `new.kind = 'message' and new.key = 'checks_failed'`,
    'it is reported once, and fixed once',
  ],
  ['the end of it is', `new.kind = 'checks_judged'`, 'nothing runs again, and the answer is given once'],
] as const

test.each(
  moments.flatMap(([what, record, then]) => [true, false].map(written => ({ what, record, then, written }))),
)(
  'kill -9 while $what about to be recorded, and it is written: $written: $then',
  async ({ record, written }) => {
    await using cluster = await startCluster(script())
    await checkBy(cluster, 'test -e two.txt')
    const { reached, release } = await hold(cluster, record)
    const first = await cluster.start('work')
    const { id } = await cluster.createRun({ prompt: 'work' })
    await reached()
    first.child.kill('SIGKILL')
    await first.ended
    await release(written)
    await cluster.start('work')
    await expectOnce(cluster, id)
  },
  90_000,
)
