import { expect, test } from 'vitest'
import { type Cluster, logsOf, startCluster } from '../recovery/cluster.ts'
import { occupiedBy, script, settings, stateOf, untilStalled } from './occupied-worker.ts'

/** Resolves when the sandbox of the run executes its command. */
const untilInCommand = (cluster: Cluster, id: number) => cluster.until(id, run => run.waiting_on === 'tool')

test('a run that stalls its process is recovered once, alone, and then fails; its neighbours continue', async () => {
  await using cluster = await startCluster(script)
  const worker = await cluster.start('work', undefined, settings)
  const neighbour = await cluster.createRun({ prompt: 'command: sleep 6' })
  await untilInCommand(cluster, neighbour.id)
  const { id } = await cluster.createRun({ prompt: 'occupy: 9999' })
  await untilStalled(cluster, id, 0)
  // As a supervisor does, or the kernel for want of memory.
  worker.child.kill('SIGKILL')
  await worker.ended

  const second = await cluster.start('work', undefined, settings)
  await untilStalled(cluster, id, 1)
  const later = await cluster.createRun({ prompt: 'command: true' })
  const owned = await cluster.rows<{ id: number }>('select id from runs where owner is not null')
  expect(owned).toEqual([{ id }])
  second.child.kill('SIGKILL')
  await second.ended
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({
    status: 'failed',
    status_reason: 'worker_stalled',
    error: { code: 'worker_stalled' },
  })
  const errors = (await logsOf(cluster, id)).filter(
    (entry: { message_type: string }) => entry.message_type === 'ERROR',
  )
  expect(errors.map((entry: { observation: unknown }) => entry.observation)).toMatchObject([
    { code: 'worker_stalled', retryable: true },
    { code: 'worker_stalled' },
  ])

  await cluster.start('work', undefined, settings)
  for (const other of [neighbour, later])
    expect(await cluster.until(other.id, run => run.terminal)).toMatchObject({
      status: 'completed',
      result: 'Done.',
    })
  expect(await stateOf(cluster, neighbour.id)).toMatchObject({ stalls: 0 })
}, 180_000)

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
