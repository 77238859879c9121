import { expect, test } from 'vitest'
import { type Cluster, startCluster } from '../recovery/cluster.ts'
import { occupiedBy, script, settings, stateOf, untilStalled } from './occupied-worker.ts'

/** Resolves when the sandbox of the run executes its command. */
const untilInCommand = (cluster: Cluster, id: number) => cluster.until(id, run => run.waiting_on === 'tool')

test('a worker whose event loop is occupied for longer than a lease keeps its runs, and names the one that occupied it', async () => {
  await using cluster = await startCluster(script)
  const worker = await cluster.start('work', undefined, settings)
  const neighbour = await cluster.createRun({ prompt: 'command: sleep 9' })
  await untilInCommand(cluster, neighbour.id)
  const occupier = await cluster.createRun({ prompt: 'occupy: 8' })
  await untilStalled(cluster, occupier.id, 0)
  expect(await stateOf(cluster, neighbour.id)).toMatchObject({ stalled: false, owned: true })
  for (const { id } of [neighbour, occupier]) {
    expect(await cluster.until(id, run => run.terminal)).toMatchObject({
      status: 'completed',
      result: 'Done.',
    })
    // A run that ends within a second of the stall keeps its record, which counts only when its worker is
    // lost.
    expect(await stateOf(cluster, id)).toMatchObject({ epoch: 1, losses: 0, stalls: 0 })
  }
  expect(await occupiedBy(worker)).toEqual([[occupier.id]])
}, 120_000)
