import { expect, test } from 'vitest'
import { checkOutService, earlierCommit } from '../../../scripts/upgrade/earlier-version.ts'
import { createClient } from '../../../src/client/sdk/client.ts'
import type { AgentRunError } from '../../../src/client/sdk/error.ts'
import { emptyDatabase } from '../../empty-database.ts'
import type { FakeScript } from '../../model/fake-server.ts'
import { TOKEN } from '../../start-app.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { calls, gitIn, shell } from '../coding-app.ts'
import { Balancer } from '../recovery/balancer.ts'
import { type ClusterNode, startApiCluster } from '../recovery/cluster.ts'

const STEPS = 6
const RUNS_PER_PHASE = 4
const patience = { timeout: 60_000 }
const earlier = earlierCommit(process.env.TEST_UPGRADE_FROM)

/** Each run takes its steps in order: the conversation contains its progress. */
const steps: FakeScript = ({ body }) => {
  const done = (body.messages as { role: string }[]).filter(message => message.role === 'tool').length
  return done < STEPS ? calls(shell(`sleep 0.5; echo step ${done + 1} >> steps.txt`)) : { text: 'Done.' }
}

async function stop(node: ClusterNode) {
  node.child.kill('SIGTERM')
  const { code, output } = await node.ended
  expect({ code, errors: output.split('\n').filter(line => line.includes('"level":"error"')) }).toEqual({
    code: 0,
    errors: [],
  })
}

test.skipIf(earlier === null)(
  'processes of an earlier version are replaced while runs are in progress, and take over again: nothing is lost',
  async () => {
    await using database = await emptyDatabase()
    using folder = temporaryFolder()
    const old = checkOutService(earlier ?? '', folder.path)
    const env = { DATABASE_URL: database.url, AGENTRUN_DRAIN_SECONDS: '1', AGENTRUN_WORKER_CONCURRENCY: '3' }
    await using cluster = await startApiCluster(steps, env, old)
    await using balancer = new Balancer()
    const base_url = await balancer.start()
    const join = async (server: ClusterNode) => {
      balancer.add(server.base_url)
      await expect.poll(() => balancer.isReady(server.base_url), patience).toBe(true)
      return server
    }
    const leave = async (server: ClusterNode) => {
      await stop(server)
      balancer.remove(server.base_url)
    }
    const waits: AgentRunError[] = []
    const client = createClient({
      base_url,
      token: TOKEN,
      organization_id: 1,
      on_wait: error => waits.push(error),
    })
    const lives: Promise<{ id: number; seqs: number[] }>[] = []
    const createRuns = (phase: string) => {
      for (let n = 1; n <= RUNS_PER_PHASE; n++)
        lives.push(
          client.runs.create({ prompt: `Upgrade ${phase} ${n}` }).then(async ({ id }) => {
            const seqs: number[] = []
            for await (const event of client.runs.follow(id)) if (event.type === 'log') seqs.push(event.seq)
            return { id, seqs }
          }),
        )
    }
    const inProgress = async (node: ClusterNode) =>
      expect
        .poll(
          async () =>
            (await cluster.rows('select 1 from runs where owner like $1', [`${node.child.pid}-%`])).length,
          patience,
        )
        .toBeGreaterThan(0)
    const names = async () =>
      (await cluster.rows<{ name: string }>('select name from migrations order by name')).map(
        ({ name }) => name,
      )

    const old_api = await join(cluster.api)
    const old_worker = await cluster.start('work', undefined, {}, old)
    const schema_of_old = await names()
    createRuns('by the old version')
    await inProgress(old_worker)

    // The new version migrates, and both work on the same database.
    const api = await join(await cluster.start('serve'))
    expect((await names()).length).toBeGreaterThan(schema_of_old.length)
    createRuns('by both')
    const worker = await cluster.start('work')
    await stop(old_worker)
    await inProgress(worker)
    await leave(old_api)
    createRuns('by the new version')
    await inProgress(worker)

    // Back: the earlier version starts on the newer schema.
    const old_api_again = await join(await cluster.start('serve', undefined, {}, old))
    const old_worker_again = await cluster.start('work', old_worker.data_dir, {}, old)
    await stop(worker)
    await leave(api)
    createRuns('after the rollback')
    await inProgress(old_worker_again)
    const ended = await Promise.all(lives)

    // And forward again: what the earlier version created on the newer schema is complete for this one.
    await stop(old_worker_again)
    const last = await join(await cluster.start('serve'))
    await leave(old_api_again)
    expect(waits.filter(error => error.status !== 0).map(error => error.message)).toEqual([])
    for (const { id, seqs } of ended) {
      const run = await cluster.getRun(id)
      expect(run).toMatchObject({ status: 'completed', result: 'Done.', total_logs: seqs.length })
      expect(seqs).toEqual(seqs.map((_, i) => i + 1))
      expect(gitIn(cluster.repository, 'show', `${run.branch}:steps.txt`)).toBe(
        Array.from({ length: STEPS }, (_, n) => `step ${n + 1}\n`).join(''),
      )
    }
    expect(await cluster.rows(`select run_id from log_entries where body like '%"interrupted"%'`)).toEqual([])
    const found = await fetch(`${last.base_url}/v1/organizations/1/agent/runs?q=upgrade&limit=100`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    expect(await found.json()).toMatchObject({ total: lives.length })
    await stop(last)
  },
  300_000,
)
