// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { calls, responses, shell } from '../../coding-app.ts'
import { type Cluster, type ClusterNode, logsOf, startCluster } from '../cluster.ts'

/** Kills a worker with its disk while it executes the `count`th command of a run. */
async function loseInCommand(cluster: Cluster, worker: ClusterNode, id: number, count: number) {
  const started = `select 1
    from journal
    where run_id = $1 and kind = 'tool_started'`
  await expect.poll(async () => (await cluster.rows(started, [id])).length, { timeout: 30_000 }).toBe(count)
  worker.child.kill('SIGKILL')
  await worker.ended
  rmSync(worker.data_dir, { recursive: true, force: true })
}

test('actions whose changes are lost are those with an outcome: of an interrupted one nobody knows whether it changed files', async () => {
  await using cluster = await startCluster(
    responses(
      calls(shell('echo kept >kept.txt')),
      calls(shell('sleep 60')),
      calls(shell('echo lost >lost.txt')),
      calls(shell('sleep 60')),
      { text: 'Done.' },
    ),
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'write' })
  await loseInCommand(cluster, first, id, 2)
  await loseInCommand(cluster, await cluster.start('work'), id, 4)
  const kept = `select min(seq) from log_entries where run_id = $1 and tool_name = 'shell'`
  await cluster.rows(`delete from checkpoints where run_id = $1 and seq > (${kept})`, [id])
  await cluster.rows(`update checkpoints set through_seq = seq where run_id = $1`, [id])
  await cluster.start('work')
  await cluster.until(id, ({ terminal }) => terminal)
  const logs: any[] = await logsOf(cluster, id)
  const commands = logs.filter(({ tool_name }) => tool_name === 'shell')
  expect(commands.map(({ tool_output }) => tool_output.status)).toEqual([
    'ok',
    'interrupted',
    'ok',
    'interrupted',
  ])
  const restored = logs.filter(({ tool_name }) => tool_name === 'workspace_restored')
  expect(restored.map(({ tool_output }) => tool_output.lost_actions)).toEqual([
    [],
    [{ seq: commands[2].seq, tool_name: 'shell' }],
  ])
}, 120_000)
