import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { FakeReply, SeenRequest } from '../../model/fake-server.ts'
import { calls, shell } from '../coding-app.ts'
import { type Cluster, startCluster } from '../recovery/cluster.ts'

/** The state that a prompt puts a run into, and the value of `waiting_on` in it. */
export const states = {
  clone: { status: 'starting', waiting_on: 'clone' },
  model: { status: 'running', waiting_on: 'model' },
  retry: { status: 'running', waiting_on: 'model_retry' },
  tool: { status: 'running', waiting_on: 'tool' },
  push: { status: 'running', waiting_on: 'push' },
} as const
export type State = keyof typeof states
export const stateNames = Object.keys(states) as State[]

const promptOf = (request: SeenRequest) => /be at (\w+)/.exec(JSON.stringify(request.body))?.[1]

function script(request: SeenRequest): FakeReply {
  const responded = JSON.stringify(request.body).includes('"role":"tool"')
  if (JSON.stringify(request.body).includes('Go on.')) return { text: 'Gone on.' }
  switch (promptOf(request)) {
    case 'model':
      return { stall: 'before_body' }
    case 'retry':
      return { status: 429, headers: { 'retry-after': '50' }, body: { error: { message: 'slow down' } } }
    case 'tool':
      return calls(shell('echo begun > begun.txt; sleep 12345'))
    case 'push':
      return responded ? { text: 'Written.' } : calls(shell('echo pushed > pushed.txt'))
    default:
      return { text: 'Done.' }
  }
}

/** An API process, and a repository of a remote that accepts connections and never responds. */
export async function startSilentCluster(): Promise<Cluster & { silent_repo: number }> {
  const stack = new AsyncDisposableStack()
  const silent = createServer(() => {})
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void silent.close())
  const cluster = stack.use(
    await startCluster(script, { AGENTRUN_ALLOW_PRIVATE_GIT: '1', AGENTRUN_WORKER_CONCURRENCY: '8' }),
  )
  const { port } = silent.address() as { port: number }
  const [repository] = await cluster.rows<{ id: number }>(
    `insert into repositories (organization_id, name, full_name, url, kind)
      values (1, 'silent', 'x/silent', $1, 'http')
      returning id`,
    [`http://127.0.0.1:${port}/silent.git`],
  )
  return { ...cluster, silent_repo: repository?.id ?? 0, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** A run in each state that a worker processes. The remote does not respond to a push. */
export async function startEveryState(
  cluster: Cluster & { silent_repo: number },
): Promise<Record<State, number>> {
  const hook = join(cluster.repository, '.git/hooks/pre-receive')
  writeFileSync(hook, '#!/bin/sh\nsleep 12345\n', { mode: 0o755 })
  const ids: Partial<Record<State, number>> = {}
  for (const state of stateNames)
    ids[state] = (
      await cluster.createRun({
        prompt: `be at ${state}`,
        ...(state === 'clone' && { repo_id: cluster.silent_repo }),
      })
    ).id
  for (const state of stateNames)
    await cluster.until(ids[state] ?? 0, run => run.waiting_on === states[state].waiting_on)
  return ids as Record<State, number>
}
