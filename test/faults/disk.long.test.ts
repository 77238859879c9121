import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { migrate } from '../../src/store/migrate.ts'
import { ensureSystemUsers } from '../../src/system/users.ts'
import { expectProblem } from '../api/expect-problem.ts'
import { createTestDatabase } from '../database.ts'
import { allLogs, awaitEnd, createRun, followRun } from '../runs/await-run.ts'
import { calls, shell, startCodingApp } from '../runs/coding-app.ts'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { rows, startApp, TOKEN } from '../start-app.ts'
import { mountSmallDisk, whyNoSmallDisk } from './small-disk.ts'

const missing = whyNoSmallDisk()
if (missing !== null) process.stderr.write(`faults 15 to 17 are not tested: ${missing}\n`)

test.skipIf(missing !== null)(
  'fault 15: with the disk of the workspaces full, the run that filled it is failed/disk_quota, those beside and after it continue; while others fill it nothing is started',
  async () => {
    const script = ({ body }: { body: Record<string, unknown> }) => {
      const messages = JSON.stringify(body.messages)
      return messages.includes('"role":"tool"')
        ? { text: 'Done.' }
        : calls(shell(/run: ([^"]*)/.exec(messages)?.[1] ?? 'true'))
    }
    await using app = await startCodingApp(script, { AGENTRUN_DISK_RESERVE_BYTES: String(8 * 1024 ** 2) })
    using disk = mountSmallDisk(64 * 1024 ** 2, join(app.data_dir, 'workspaces'))
    const beside = await createRun(app, { prompt: 'run: sleep 3; ls' })
    for await (const { event } of followRun(app, beside.id)) if (event === 'tool') break
    const greedy = await createRun(app, { prompt: 'run: head -c 200M /dev/zero > big; sleep 12345' })
    expect(await awaitEnd(app, greedy.id)).toMatchObject({
      status: 'failed',
      status_reason: 'disk_quota',
      error: { code: 'disk_full' },
    })
    const next = await createRun(app, { prompt: 'run: ls' })
    for (const { id } of [beside, next])
      expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
    expect(readdirSync(disk.path).filter(name => name.startsWith(`${greedy.id}-`))).toEqual([])

    // Filled by another program: no run is ended for it, and nothing is started.
    disk.fill()
    const later = await createRun(app, { prompt: 'run: ls' })
    const ready = async () => (await app.call('GET', '/readyz')).body
    while ((await ready()).workers !== 'blocked') await new Promise(resolve => setTimeout(resolve, 50))
    expect((await ready()).workers_reason).toContain('AGENTRUN_DISK_RESERVE_BYTES')
    expect((await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${later.id}`)).body.status).toBe(
      'queued',
    )
    disk.free()
    expect(await awaitEnd(app, later.id)).toMatchObject({ status: 'completed' })
  },
  60_000,
)

test.skipIf(missing !== null)(
  'files that cannot be kept because the disk is full are reported as that',
  async () => {
    let disk: ReturnType<typeof mountSmallDisk> | null = null
    let kept: () => Promise<unknown> = async () => {}
    await using app = await startCodingApp(
      async (_request, n) => {
        if (n === 1) await kept()
        // Page by page: others write there at the same moment. Git takes each snapshot: its rules change.
        if (n === 1) spawnSync('sh', ['-c', 'cat /dev/zero >filler'], { cwd: disk?.path })
        if (n === 6) disk?.free()
        return n < 6 ? calls(shell(`printf ${n} > .gitignore`)) : { text: 'Done.' }
      },
      { AGENTRUN_DISK_RESERVE_BYTES: String(4 * 1024 ** 2) },
    )
    using mounted = mountSmallDisk(64 * 1024 ** 2, join(app.data_dir, 'workspaces'))
    disk = mounted
    kept = () =>
      expect
        .poll(() => rows(app, 'select 1 from checkpoints where through_seq > 2'), { timeout: 20_000 })
        .not.toEqual([])
    const { id } = await createRun(app, { prompt: 'write', auto_create_pr: false })
    await awaitEnd(app, id)
    const failed = (await allLogs(app, id)).find(entry => entry.observation?.code === 'checkpoint_failed')
    expect(failed?.observation.message).toContain('are free on the disk of the workspaces')
  },
  60_000,
)

test.skipIf(missing !== null)(
  'a commit that does not fit on the disk when it leaves the sandbox ends the run as disk_quota, and no part of it is pushed',
  async () => {
    const script = [calls(shell('head -c 3M /dev/urandom >large.bin')), { text: 'Done.' }]
    await using app = await startCodingApp(() => script.shift() ?? { text: 'Done.' })
    using _disk = mountSmallDisk(1024 ** 2, join(app.data_dir, 'bundles'))
    const { id } = await createRun(app, { prompt: 'add a large file' })
    expect(await awaitEnd(app, id)).toMatchObject({
      status: 'failed',
      status_reason: 'disk_quota',
      error: { code: 'disk_full' },
    })
    expect((await allLogs(app, id)).filter(entry => entry.tool_name === 'git_push')).toEqual([])
  },
  60_000,
)

test.skipIf(missing !== null)(
  'fault 17: with the disk of its log and of temporary files full, the service responds and continues, and shuts down gracefully',
  async () => {
    using disk = mountSmallDisk(1024 ** 2)
    await using database = await createTestDatabase()
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-full-log-')))
    chmodSync(folder, 0o755)
    const env = {
      DATABASE_URL: database.url,
      AGENTRUN_DATA_DIR: join(folder, 'data'),
      AGENTRUN_INIT_TOKEN: TOKEN,
      TMPDIR: disk.path,
    }
    try {
      const service = await startServiceProcess(env, 'all', join(disk.path, 'service.log'))
      expect(service.base_url).not.toBe('')
      disk.fill()
      // biome-ignore lint/suspicious/noExplicitAny: responses are read without types
      const request = async (method: string, path: string, body?: unknown): Promise<any> => {
        const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
        const response = await fetch(service.base_url + path, {
          method,
          headers,
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        return response.json()
      }
      const { id } = await request('POST', '/v1/organizations/1/agent/run', {
        prompt: 'look around',
        repo_id: null,
        repoless: true,
      })
      const end = async () => (await request('GET', `/v1/organizations/1/agent/run/${id}`)).status
      while (!['completed', 'failed'].includes(await end()))
        await new Promise(resolve => setTimeout(resolve, 1_000))
      expect(await end()).toBe('completed')
      service.child.kill('SIGTERM')
      expect(await service.ended).toMatchObject({ code: 0 })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
  60_000,
)

test.skipIf(missing !== null)(
  'fault 16: with the disk of the database full, writes are 503 and reads work; even after the server fell over it comes back by itself when there is space',
  async () => {
    using disk = mountSmallDisk(200 * 1024 ** 2)
    const lines: string[] = []
    await using postgres = await startEmbeddedPostgres({
      data_dir: `${disk.path}/postgres`,
      user: ensureSystemUsers().database,
      log: line => lines.push(line),
    })
    await migrate(postgres.url)
    await using app = await startApp({
      DATABASE_URL: postgres.url,
      AGENTRUN_WORKER_CONCURRENCY: '0',
      AGENTRUN_LIMIT_STANDARD: '900/1',
    })
    const runs = () => app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)
    const create = () =>
      app.call('POST', `/v1/organizations/${app.org_id}/agent/run`, {
        prompt: 'x'.repeat(150_000),
        repo_id: null,
        repoless: true,
      })
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
    while (!lines.some(line => line.includes('cannot be started')))
      await app.db.query({ text: 'select pg_switch_wal()' }).catch(create)
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
