import { expect, test } from 'vitest'
import { calls, responses, shell } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'
import { logsOf, recoveryOf, startCluster, stateOf } from './cluster.ts'

test('faults 4 and 5: kill -9 of the worker in a command: another continues, committed steps run once, the command is interrupted and not run again', async () => {
  await using cluster = await startCluster(
    responses(
      calls(shell('echo one >> steps.txt')),
      calls(shell('echo two >> steps.txt; sleep 1000'), shell('echo never >> steps.txt')),
      calls(shell('cat steps.txt')),
      { text: 'Done.' },
    ),
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'survive' })
  await cluster.until(id, run => run.total_logs >= 3 && cluster.model.requests.length === 2)
  await expect.poll(() => sandboxProcesses(first.data_dir).length).toBeGreaterThan(0)
  const before = await logsOf(cluster, id)
  first.child.kill('SIGKILL')
  await first.ended
  // They are killed at that moment, and gone when the kernel has reaped them.
  await expect.poll(() => sandboxProcesses(first.data_dir)).toEqual([])
  await cluster.start('work')
  const run = await cluster.until(id, ({ terminal }) => terminal)
  expect(run).toMatchObject({ status: 'completed', turn: 1, result: 'Done.' })
  const logs = await logsOf(cluster, id)
  expect(logs.slice(0, before.length)).toEqual(before)
  expect(logs.map((entry: { seq: number }) => entry.seq)).toEqual(logs.map((_: unknown, i: number) => i + 1))
  expect(await stateOf(cluster, id)).toEqual([
    ...['model committed', 'shell committed', 'model committed', 'shell interrupted', 'shell not_run'],
    ...['model committed', 'shell committed', 'model committed'],
  ])
  const { recoveries } = await recoveryOf(cluster, id)
  expect(recoveries).toMatchObject([
    {
      turn: 1,
      cause: 'lease_lost',
      model_call_reissued: false,
      interrupted: [{ tool_name: 'shell' }],
      after_seq: before.length,
    },
  ])
  expect(cluster.model.requests).toHaveLength(4)
  expect(JSON.stringify(cluster.model.requests[2]?.body)).toContain('it may or may not have completed')
  // The command took effect before it was lost; it is not repeated, and commands that never started are not
  // run.
  const seen = logs.findLast((entry: { tool_name: string }) => entry.tool_name === 'shell').tool_output.output
  expect(['one\n', 'one\ntwo\n']).toContain(seen)
}, 90_000)
