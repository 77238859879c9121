import { expect, test } from 'vitest'
import { startCluster } from '../recovery/cluster.ts'
import { occupiedBy, script, settings, stateOf, untilStalled } from './occupied-worker.ts'

test('a run in hand of a process that gets no processor time, on a busy machine, is not recorded, whatever other threads do', async () => {
  await using cluster = await startCluster(script)
  const worker = await cluster.start('work', undefined, settings)
  const { id } = await cluster.createRun({ prompt: 'starve: 8' })
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({ status: 'completed', result: 'Done.' })
  expect(await occupiedBy(worker)).toEqual([[]])
}, 120_000)

test('a run that takes much memory while the event loop is silent is recorded before the kernel kills the process', async () => {
  await using cluster = await startCluster(script)
  const worker = await cluster.start('work', undefined, settings)
  const { id } = await cluster.createRun({ prompt: 'hoard: 9999' })
  await untilStalled(cluster, id, 0)
  worker.child.kill('SIGKILL')
  await worker.ended
  await cluster.until(id, run => run.status === 'queued')
  expect(await stateOf(cluster, id)).toMatchObject({ stalls: 1 })
}, 120_000)
