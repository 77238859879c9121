import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isDatabaseAway } from '../../src/core/database-away.ts'
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { migrate } from '../../src/store/migrate.ts'
import { ensureSystemUsers } from '../../src/system/users.ts'
import { PRICED } from '../runs/coding-app.ts'
import { type ApiCluster, type Cluster, type ClusterNode, startApiCluster } from '../runs/recovery/cluster.ts'
import { TOKEN } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { carefulAgent } from './careful-agent.ts'
import { broken, type ObservedRuns, unfinished } from './invariants.ts'
import { killProcesses } from './killer.ts'
import { type Random, seeded } from './random.ts'
import { report, undelivered } from './reports.ts'
import { keepResult } from './result.ts'

const soak = process.env.TEST_SOAK === '1'
const seed = Number(process.env.TEST_SEED ?? 1)
const size = soak
  ? {
      serve: 2,
      work: 3,
      runs: 200,
      steps: 8,
      for_ms: Number(process.env.TEST_SOAK_MINUTES ?? 10) * 60_000,
      end_ms: 600_000,
    }
  : { serve: 2, work: 3, runs: 30, steps: 8, for_ms: 45_000, end_ms: 240_000 }

/**
 * A client that makes runs and reads traces through whichever API process responds, and tries again with the
 * same key where none does.
 */
async function createRuns(
  nodes: ClusterNode[],
  observed: ObservedRuns,
  random: Random,
  going: () => boolean,
): Promise<void> {
  for (let n = 0; n < size.runs; n++) {
    const key = `chaos-${seed}-${n}`
    const model = n % 2 === 0 ? {} : { model: PRICED.model }
    const body = JSON.stringify({ prompt: `chaos ${n}: ${size.steps} steps`, metadata: { key }, ...model })
    for (let done = false; !done; ) {
      const result = await request(random.of(nodes).base_url, 'POST', '/run', body, key)
      done = result !== null
      if (result) observed.created.set(key, (JSON.parse(result) as { id: number }).id)
      else await delay(100)
    }
    if (going()) await delay(random.between(0, (1.2 * size.for_ms) / size.runs))
  }
}

async function readTraces(
  nodes: ClusterNode[],
  observed: ObservedRuns,
  random: Random,
  going: () => boolean,
): Promise<void> {
  while (going()) {
    await delay(300)
    const ids = [...observed.created.values()]
    if (ids.length === 0) continue
    const id = random.of(ids)
    const page = await request(random.of(nodes).base_url, 'GET', `/run/${id}/logs`)
    if (page === null) continue
    const { logs } = JSON.parse(page) as { logs: { seq: number }[] }
    const before = observed.traces.get(id) ?? []
    const now = logs.map(entry => JSON.stringify(entry))
    if (before.some((entry, i) => i < now.length && entry !== now[i]))
      observed.changed.push(`I3: what was read of run ${id} has changed`)
    if (now.length > before.length) observed.traces.set(id, now)
  }
}

/** The body of a 200; null for everything else: the process is gone, drains, or has no database. */
async function request(
  base_url: string,
  method: string,
  path: string,
  body?: string,
  key?: string,
): Promise<string | null> {
  try {
    const response = await fetch(`${base_url}/v1/organizations/1/agent${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        ...(key && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body }),
      signal: AbortSignal.timeout(10_000),
    })
    const text = await response.text()
    return response.status === 200 ? text : null
  } catch {
    return null
  }
}

/**
 * A remote that needs up to a second and a half before it has a branch, and as long again until it responds:
 * there the worst moments are.
 */
function slowRemote({ repository }: Cluster): void {
  const hook = '#!/bin/sh\nsleep "$(($(od -An -N2 -tu2 /dev/urandom) % 1500))e-3"\n'
  for (const name of ['pre-receive', 'post-receive'])
    writeFileSync(join(repository, '.git/hooks', name), hook, { mode: 0o755 })
}

/** The database may be the one that was killed. */
async function whenThere<T>(query: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + 30_000; ; await delay(100)) {
    try {
      return await query()
    } catch (error) {
      if (!isDatabaseAway(error) || Date.now() > end) throw error
    }
  }
}

async function allEnded(cluster: Cluster): Promise<void> {
  for (const end = Date.now() + size.end_ms; Date.now() < end; await delay(200)) {
    const [open] = await cluster.rows<{ n: number }>(
      `select count(*) as n
        from runs
        where status not in ('completed', 'failed', 'cancelled', 'paused')`,
    )
    if (open?.n === 0) return
  }
}

test(`processes are killed at random (TEST_SEED=${seed}): every run completes, every step once, one pull request each, and every event delivered`, {
  timeout: 1_800_000,
}, async () => {
  const random = seeded(seed)
  const agent = carefulAgent(seeded(seed + 1), 0.05)
  using folder = temporaryFolder()
  await using postgres = await startEmbeddedPostgres({
    data_dir: join(folder.path, 'postgres'),
    user: ensureSystemUsers().database,
    log: () => {},
  })
  await migrate(postgres.url)
  await using started = await startApiCluster(agent.script, {
    DATABASE_URL: postgres.url,
    AGENTRUN_WORKER_CONCURRENCY: '6',
    AGENTRUN_RUN_MAX_RECOVERIES: '10000',
    AGENTRUN_MODEL_FIRST_BYTE_SECONDS: '3',
    AGENTRUN_ALLOW_PRIVATE_EGRESS: '1',
  })
  // Each worker knows the service under another address, as a wrong configuration would have it.
  let workers = 0
  const address = (role: string): Record<string, string> =>
    role === 'work' ? { AGENTRUN_BASE_URL: `http://worker-${++workers}.example.org` } : {}
  const cluster: ApiCluster = {
    ...started,
    start: (role, data_dir) => started.start(role, data_dir, address(role)),
  }
  slowRemote(cluster)
  await using receiver = await startReceiver()
  await report(cluster, receiver.url)
  const nodes = [cluster.api]
  while (nodes.length < size.serve) nodes.push(await cluster.start('serve'))
  const serving = nodes.slice()
  for (let n = 0; n < size.work; n++) nodes.push(await cluster.start('work'))
  const observed: ObservedRuns = { created: new Map(), traces: new Map(), changed: [] }
  let going = true
  const clients = [
    createRuns(serving, observed, seeded(seed + 2), () => going),
    readTraces(serving, observed, seeded(seed + 3), () => going),
  ]
  const faults = await killProcesses(
    cluster,
    nodes,
    postgres,
    random,
    { for_ms: size.for_ms, pause_ms: [500, 3_000] },
    async () => {
      serving.splice(0, serving.length, ...nodes.filter(node => node.role === 'serve'))
      expect(await whenThere(() => broken(cluster, observed)), `TEST_SEED=${seed}`).toEqual([])
    },
  )
  going = false
  await Promise.all(clients)
  await allEnded(cluster)
  const dirs = nodes.map(node => node.data_dir)
  expect({
    seed,
    wrong: [
      ...(await broken(cluster, observed)),
      ...(await unfinished(cluster, size.steps, agent.served, dirs)),
    ],
  }).toEqual({
    seed,
    wrong: [],
  })
  expect({ seed, wrong: await undelivered(cluster, receiver.received, size.end_ms) }).toEqual({
    seed,
    wrong: [],
  })
  expect(observed.created.size).toBe(size.runs)
  const [resumed] = await cluster.rows<{ n: number; median_ms: number; p95_ms: number }>(
    `select count(*) as n, percentile_cont(0.5) within group (order by ms) as median_ms,
        percentile_cont(0.95) within group (order by ms) as p95_ms
      from (
        select extract(epoch from created_at - (body::json ->> 'since')::timestamptz) * 1000 as ms
        from journal
        where kind = 'recovered' and body::json ->> 'cause' = 'lease_lost'
      ) r`,
  )
  expect(resumed?.n).toBeGreaterThan(0)
  keepResult({ seed, soak, runs: size.runs, steps: size.steps, faults, resumed })
})
