import { expect, test } from 'vitest'
import { createClient } from '../../../src/client/sdk/client.ts'
import type { AgentRunError } from '../../../src/client/sdk/error.ts'
import type { FakeScript } from '../../model/fake-server.ts'
import { TOKEN } from '../../start-app.ts'
import { calls, gitIn, responses, shell } from '../coding-app.ts'
import { Balancer } from './balancer.ts'
import { type Cluster, type ClusterNode, startApiCluster, startCluster } from './cluster.ts'

const RUNS = 30
const STEPS = 4
const patience = { timeout: 30_000 }

/** Each run takes its steps in order: the conversation contains its progress. */
const steps: FakeScript = ({ body }) => {
  const done = (body.messages as { role: string }[]).filter(message => message.role === 'tool').length
  return done < STEPS ? calls(shell(`sleep 0.2; echo step ${done + 1} >> steps.txt`)) : { text: 'Done.' }
}

async function stop(node: ClusterNode) {
  node.child.kill('SIGTERM')
  const { code, output } = await node.ended
  expect({ code, errors: output.split('\n').filter(line => line.includes('"level":"error"')) }).toEqual({
    code: 0,
    errors: [],
  })
}

test(`every process is replaced while ${RUNS} runs are created, followed and processed: no request fails, no run is lost, no step is repeated or interrupted`, async () => {
  await using cluster = await startApiCluster(steps, {
    AGENTRUN_DRAIN_SECONDS: '1',
    AGENTRUN_WORKER_CONCURRENCY: '3',
  })
  await using balancer = new Balancer()
  const base_url = await balancer.start()
  const servers = [cluster.api, await cluster.start('serve')]
  for (const { base_url: url } of servers) balancer.add(url)
  await expect.poll(() => servers.every(server => balancer.isReady(server.base_url)), patience).toBe(true)
  const workers = [await cluster.start('work'), await cluster.start('work')]

  const waits: AgentRunError[] = []

  const client = createClient({
    base_url,
    token: TOKEN,
    organization_id: 1,
    on_wait: error => waits.push(error),
  })
  let restarting = true
  const live = async (n: number) => {
    const run = await client.runs.create({ prompt: `run ${n}` })
    const seqs: number[] = []
    for await (const event of client.runs.follow(run.id)) if (event.type === 'log') seqs.push(event.seq)
    return { id: run.id, seqs }
  }
  // In addition to the followers: a client that polls continuously.
  const polling = (async () => {
    let requested = 0
    for (; restarting; requested++)
      for await (const page of client.runs.list({ limit: 50 }).pages())
        expect(page.total).toBeGreaterThanOrEqual(0)
    return requested
  })()
  const lives = Promise.all(
    Array.from({ length: RUNS }, async (_, n) => {
      await new Promise(resolve => setTimeout(resolve, n * 300))
      return live(n)
    }),
  )
  const atWork = (pid: number | undefined) =>
    cluster.rows('select 1 from runs where owner like $1', [`${pid}-%`])
  for (const old of [workers[0], servers[0], workers[1], servers[1]]) {
    if (old === undefined) throw new Error('there are two of each')
    if (old.role === 'work')
      await expect.poll(async () => (await atWork(old.child.pid)).length, patience).toBeGreaterThan(0)
    await stop(old)
    if (old.role === 'serve') balancer.remove(old.base_url)
    const fresh = await cluster.start(old.role, old.data_dir)
    if (fresh.role === 'serve') {
      balancer.add(fresh.base_url)
      await expect.poll(() => balancer.isReady(fresh.base_url), patience).toBe(true)
    }
  }
  const ended = await lives
  restarting = false
  expect(await polling).toBeGreaterThan(10)

  // Connections may be refused or cut, as with any service; no response was a failure.
  expect(waits.filter(error => error.status !== 0).map(error => error.message)).toEqual([])
  for (const { id, seqs } of ended) {
    const run = await cluster.getRun(id)
    expect(run).toMatchObject({ status: 'completed', result: 'Done.', total_logs: seqs.length })
    expect(seqs).toEqual(seqs.map((_, i) => i + 1))
    expect(run.github_pull_requests).toHaveLength(1)
    expect(gitIn(cluster.repository, 'show', `${run.branch}:steps.txt`)).toBe(
      'step 1\nstep 2\nstep 3\nstep 4\n',
    )
  }
  expect(await cluster.rows(`select run_id from log_entries where body like '%"interrupted"%'`)).toEqual([])
  expect(cluster.model.requests).toHaveLength(RUNS * (STEPS + 1))
  const handed = await cluster.rows<{ n: number }>(
    `select count(*)::int as n
      from journal
      where kind = 'recovered' and body like '%handed_over%'`,
  )
  expect(handed[0]?.n).toBeGreaterThan(0)
}, 240_000)

const recoveries = async (cluster: Cluster, id: number) =>
  (await cluster.call('GET', `/run/${id}/recovery`)).body.recoveries

test('a worker that receives SIGTERM finishes the running step, and the next worker continues with the step after it', async () => {
  await using cluster = await startCluster(
    responses(calls(shell('echo begun; sleep 3; echo ended')), { text: 'Done.' }),
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'x' })
  await cluster.until(id, run => run.waiting_on === 'tool')
  await stop(first)
  expect(await cluster.getRun(id)).toMatchObject({ status: 'queued' })
  await cluster.start('work')
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({ status: 'completed' })
  const { logs } = (await cluster.call('GET', `/run/${id}/logs`)).body
  expect(logs.find((entry: { tool_name: string }) => entry.tool_name === 'shell').tool_output).toMatchObject({
    status: 'ok',
    output: 'begun\nended\n',
  })
  expect(await recoveries(cluster, id)).toMatchObject([
    { cause: 'handed_over', model_call_reissued: false, interrupted: [] },
  ])
  expect(cluster.model.requests).toHaveLength(2)
}, 120_000)

test('a step that exceeds the grace period is interrupted and recorded as interrupted, and its worker still exits', async () => {
  await using cluster = await startCluster(
    responses(calls(shell('echo begun; sleep 1000')), { text: 'Done.' }),
    {
      AGENTRUN_SHUTDOWN_GRACE_SECONDS: '1',
    },
  )
  const first = await cluster.start('work')
  const { id } = await cluster.createRun({ prompt: 'x' })
  await cluster.until(id, run => run.waiting_on === 'tool')
  await stop(first)
  await cluster.start('work')
  expect(await cluster.until(id, run => run.terminal)).toMatchObject({ status: 'completed' })
  const { logs } = (await cluster.call('GET', `/run/${id}/logs`)).body
  expect(logs.find((entry: { tool_name: string }) => entry.tool_name === 'shell').tool_output).toMatchObject({
    status: 'interrupted',
  })
  const { body } = await cluster.call('GET', `/run/${id}/recovery`)
  expect(body.recoveries).toMatchObject([{ cause: 'handed_over', model_call_reissued: false }])
  expect(
    body.steps.items.map(
      (step: { tool_name: string | null; state: string }) => `${step.tool_name} ${step.state}`,
    ),
  ).toEqual([...['null committed', 'shell interrupted', 'null committed']])
}, 120_000)

test('an API process that receives SIGTERM fails /readyz, serves requests while it drains, ends its streams and exits', async () => {
  await using cluster = await startApiCluster(responses({ text: 'Done.' }), { AGENTRUN_DRAIN_SECONDS: '2' })
  const { base_url, child, ended } = cluster.api
  const { id } = await cluster.createRun({ prompt: 'x' })
  const get = (path: string) => fetch(base_url + path, { headers: { authorization: `Bearer ${TOKEN}` } })
  const stream = await get(`/v1/organizations/1/agent/run/${id}/events`)
  child.kill('SIGTERM')
  await expect.poll(async () => (await get('/readyz')).status, patience).toBe(503)
  const ready = await get('/readyz')
  expect(ready.headers.get('retry-after')).toBe('2')
  const response = await get('/v1/users/me')
  expect({ status: response.status, connection: response.headers.get('connection') }).toEqual({
    status: 200,
    connection: 'close',
  })
  expect((await cluster.createRun({ prompt: 'y' })).status).toBe('queued')
  // The stream ends gracefully, not with a broken connection.
  expect(await stream.text()).toContain('event: run')
  expect((await ended).code).toBe(0)
  await expect(get('/healthz')).rejects.toThrow()
}, 120_000)
