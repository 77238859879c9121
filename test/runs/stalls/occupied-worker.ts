import { expect } from 'vitest'
import type { FakeScript } from '../../model/fake-server.ts'
import { calls, shell } from '../coding-app.ts'
import type { Cluster, ClusterNode } from '../recovery/cluster.ts'

export const settings = {
  NODE_OPTIONS: `--import=${new URL('./occupying-parse.ts', import.meta.url)}`,
  AGENTRUN_WORKER_CONCURRENCY: '3',
}

/**
 * The first response to a prompt is a call of its command, or text that occupies the process that reads it;
 * the second one ends the run.
 */
export const script: FakeScript = ({ body }) => {
  const messages = body.messages as { role: string; content: unknown }[]
  const prompt = JSON.stringify(messages.find(({ role }) => role === 'user')?.content)
  if (messages.some(({ role }) => role === 'tool')) return { text: 'Done.' }
  const [, how, seconds] = /^"(occupy|starve|hoard|exhaust): (\d+)/.exec(prompt) ?? []
  const command = /^"command: ([^"]*)/.exec(prompt)?.[1] ?? 'true'
  return calls(shell(seconds === undefined ? command : `true # ${how} ${seconds} seconds`))
}

type State = {
  status: string
  epoch: number
  losses: number
  stalls: number
  stalled: boolean
  owned: boolean
}
export async function stateOf(cluster: Cluster, id: number): Promise<State | undefined> {
  const [state] = await cluster.rows<State>(
    `select status, epoch, losses, stalls, stalled_epoch is not distinct from epoch as stalled,
        owner is not null as owned
      from runs
      where id = $1`,
    [id],
  )
  return state
}
export const untilStalled = (cluster: Cluster, id: number, stalls: number) =>
  expect
    .poll(() => stateOf(cluster, id), { timeout: 60_000 })
    .toMatchObject({ stalls, stalled: true, owned: true })

/** Stops the worker once it has logged the end of a stall. Returns the runs that it names each time. */
export async function occupiedBy(worker: ClusterNode): Promise<number[][]> {
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
