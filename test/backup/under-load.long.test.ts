import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backUp } from '../../src/backup/backup.ts'
import { restore } from '../../src/backup/restore.ts'
import { emptyDatabase } from '../empty-database.ts'
import type { FakeScript } from '../model/fake-server.ts'
import { calls, gitIn, shell } from '../runs/coding-app.ts'
import { type Cluster, startApiCluster, startCluster } from '../runs/recovery/cluster.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/**
 * More than two rounds of the slots of all workers: when some of the first round have ended, some still wait.
 */
const RUNS = 14
const STEPS = 4

const steps: FakeScript = ({ body }) => {
  const done = (body.messages as { role: string }[]).filter(message => message.role === 'tool').length
  return done < STEPS ? calls(shell(`sleep 0.3; echo step ${done + 1} >> steps.txt`)) : { text: 'Done.' }
}
const idsOf = (cluster: Cluster, condition: string) =>
  cluster
    .rows<{ id: number }>(`select id from runs where ${condition} order by id`)
    .then(rows => rows.map(row => row.id))

type Entry = {
  seq: number
  tool_name: string | null
  tool_output: { seq?: number | null; up_to_date?: boolean }
}

/**
 * Files are kept a moment after their step: the trace of a backup from that moment names the entry from which
 * on they are lost, and no other is.
 */
function keptSteps(logs: Entry[]): string {
  const restored = logs.filter(
    entry => entry.tool_name === 'workspace_restored' && entry.tool_output.up_to_date === false,
  )
  const lost = ({ seq }: Entry) =>
    restored.some(entry => seq > (entry.tool_output.seq ?? 0) && seq < entry.seq)
  const steps = logs
    .filter(entry => entry.tool_name === 'shell')
    .map((entry, i) => ({ ...entry, line: `step ${i + 1}\n` }))
  expect(steps).toHaveLength(STEPS)
  return steps.flatMap(step => (lost(step) ? [] : [step.line])).join('')
}

test('fault 50: a backup taken under load is restored: every run of it continues to its end, with one pull request each, despite pushes after the backup', async () => {
  using folder = temporaryFolder()
  await using target = await emptyDatabase()
  const file = join(folder.path, 'backup')
  const env = { AGENTRUN_WORKER_CONCURRENCY: '3' }
  await using before = await startApiCluster(steps, env)
  const nodes = [before.api, await before.start('work'), await before.start('work')]
  for (let n = 0; n < RUNS; n++) await before.createRun({ prompt: `run ${n}` })
  // In the middle of it: some have ended, some are active, some wait.
  await expect
    .poll(async () => (await idsOf(before, `status = 'completed'`)).length, { timeout: 60_000 })
    .toBeGreaterThan(1)
  await backUp(before.db.connection_string, file, 'test')
  // The service continues and its data is lost: all branches are pushed, one more run is created.
  const lost = await before.createRun({ prompt: 'run 99' })
  for (let id = 1; id <= RUNS; id++) await before.until(id, run => run.terminal)
  for (const { child } of nodes) child.kill('SIGKILL')
  await Promise.all(nodes.map(node => node.ended))

  await restore(target.url, file)
  const repository = {
    AGENTRUN_INIT_REPO_URL: before.repository,
    OPENAI_COMPATIBLE_BASE_URL: `${before.model.origin}/v1`,
  }
  await using after = await startCluster(steps, { ...env, ...repository, DATABASE_URL: target.url })
  const [ended, at_work, waiting] = [
    await idsOf(after, `status = 'completed'`),
    await idsOf(after, `status in ('starting', 'running') or epoch > 10001`),
    await idsOf(after, `status = 'queued'`),
  ]
  expect(ended.length).toBeGreaterThan(1)
  expect(at_work.length).toBeGreaterThan(0)
  expect(waiting.length).toBeGreaterThan(0)
  await after.start('work')
  await after.start('work')
  for (let id = 1; id <= RUNS; id++) {
    const run = await after.until(id, ({ terminal }) => terminal)
    const { logs } = (await after.call('GET', `/run/${id}/logs`)).body
    expect(run, JSON.stringify(logs.slice(-3))).toMatchObject({ status: 'completed', result: 'Done.' })
    expect(logs.map((entry: { seq: number }) => entry.seq)).toEqual(
      logs.map((_: unknown, i: number) => i + 1),
    )
    expect(run.github_pull_requests).toHaveLength(1)
    expect(gitIn(before.repository, 'show', `${run.branch}:steps.txt`)).toBe(keptSteps(logs))
  }
  expect((await after.call('GET', `/run/${lost.id}`)).status).toBe(404)
  expect((await after.createRun({ prompt: 'after' })).id).toBeGreaterThan(10_000)
  const [doubled] = await after.rows<{ n: number }>(
    `select count(*)::int as n
      from (select run_id from pull_requests group by run_id having count(*) > 1) d`,
  )
  expect(doubled?.n).toBe(0)
}, 240_000)
