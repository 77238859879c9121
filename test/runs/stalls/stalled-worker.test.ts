import { expect, test } from 'vitest'
import type { FakeScript } from '../../model/fake-server.ts'
import { calls, shell } from '../coding-app.ts'
import { type Cluster, type ClusterNode, logsOf, startCluster } from '../recovery/cluster.ts'

const settings = { NODE_OPTIONS: `--import=${new URL('./occupying-parse.ts', import.meta.url)}`, AGENTRUN_WORKER_CONCURRENCY: '3' }

/** The first response to a prompt is a call of its command, or text that occupies the process that reads it; the second one ends the run. */
const script: FakeScript = ({ body }) => {
  const messages = body.messages as { role: string; content: unknown }[]
  const prompt = JSON.stringify(messages.find(({ role }) => role === 'user')?.content)
  if (messages.some(({ role }) => role === 'tool')) return { text: 'Done.' }
  const [, how, seconds] = /^"(occupy|starve|hoard): (\d+)/.exec(prompt) ?? []
  const command = /^"command: ([^"]*)/.exec(prompt)?.[1] ?? 'true'
  return calls(shell(seconds === undefined ? command : `true # ${how} ${seconds} seconds`))
}

type State = { status: string; epoch: number; losses: number; stalls: number; stalled: boolean; owned: boolean }
async function stateOf(cluster: Cluster, id: number): Promise<State | undefined> {
  const [state] = await cluster.rows<State>(
    `select status, epoch, losses, stalls, stalled_epoch is not distinct from epoch as stalled, owner is not null as owned
      from runs where id = $1`,
    [id],
  )
  return state
}
const untilStalled = (cluster: Cluster, id: number, stalls: number) =>
  expect.poll(() => stateOf(cluster, id), { timeout: 60_000 }).toMatchObject({ stalls, stalled: true, owned: true })

/** Stops the worker once it has logged the end of a stall. Returns the runs that it names each time. */
async function occupiedBy(worker: ClusterNode): Promise<number[][]> {
  const occupied = () =>
    worker
      .outputSoFar()
      .split('\n')
      .filter(line => line.includes('the event loop was occupied'))
  await expect.poll(occupied, { timeout: 20_000 }).not.toEqual([])
  worker.child.kill('SIGTERM')
  await worker.ended
  return occupied().map(line => JSON.parse(line).run_ids)
}

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
    expect(await cluster.until(id, run => run.terminal)).toMatchObject({ status: 'completed', result: 'Done.' })
    // A run that ends within a second of the stall keeps its record, which counts only when its worker is lost.
    expect(await stateOf(cluster, id)).toMatchObject({ epoch: 1, losses: 0, stalls: 0 })
  }
  expect(await occupiedBy(worker)).toEqual([[occupier.id]])
}, 120_000)

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
  const errors = (await logsOf(cluster, id)).filter((entry: { message_type: string }) => entry.message_type === 'ERROR')
  expect(errors.map((entry: { observation: unknown }) => entry.observation)).toMatchObject([
    { code: 'worker_stalled', retryable: true },
    { code: 'worker_stalled' },
  ])

  await cluster.start('work', undefined, settings)
  for (const other of [neighbour, later])
    expect(await cluster.until(other.id, run => run.terminal)).toMatchObject({ status: 'completed', result: 'Done.' })
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
