import { expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { migrate } from '../../src/store/migrate.ts'
import { ensureServiceUsers } from '../../src/system/users.ts'
import { expectProblem } from '../api/expect-problem.ts'
import { startApp } from '../start-app.ts'
import { mountSmallDisk, whyNoSmallDisk } from './small-disk.ts'

const missing = whyNoSmallDisk()
if (missing !== null) process.stderr.write(`rows 15 to 17 are not tested: ${missing}\n`)

test.skipIf(missing !== null)(
  'row 16: with the disk of the database full, writes are 503 and reads work; even after the server fell over it comes back by itself when there is space',
  async () => {
    using disk = mountSmallDisk(200 * 1024 ** 2)
    const lines: string[] = []
    await using postgres = await startEmbeddedPostgres({
      data_dir: `${disk.path}/postgres`,
      user: ensureServiceUsers().service,
      log: line => lines.push(line),
    })
    await migrate(postgres.url)
    await using app = await startApp({ DATABASE_URL: postgres.url, AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_LIMIT_STANDARD: '900/1' })
    const runs = () => app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)
    const create = () =>
      app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, { prompt: 'x'.repeat(150_000), repo_id: null, repoless: true })
    const untilCreated = async () => {
      const signal = AbortSignal.timeout(20_000)
      while ((await create()).status !== 200) signal.throwIfAborted()
    }
    expect((await create()).status).toBe(200)

    disk.fill()
    let refused = await create()
    while (refused.status === 200) refused = await create()
    expect(expectProblem(refused, 503).detail).toMatch(/full/)
    expect(refused.headers.get('retry-after')).not.toBeNull()
    const before = await runs()
    expect(before.status).toBe(200)
    disk.free()
    await untilCreated()

    // Without room for its own log the server cannot even recover.
    disk.fill()
    while (!lines.some(line => line.includes('cannot be started'))) await app.db.query({ text: 'select pg_switch_wal()' }).catch(create)
    expect(lines.at(-1)).toMatch(/No space left on device/)
    expectProblem(await runs(), 503)
    disk.free()
    await untilCreated()
    const after = await runs()
    expect(after.body.items.length).toBeGreaterThan(before.body.items.length)
    expect(after.body.items.map((run: { id: number }) => run.id)).toEqual(
      expect.arrayContaining(before.body.items.map((run: { id: number }) => run.id)),
    )
  },
  60_000,
)
