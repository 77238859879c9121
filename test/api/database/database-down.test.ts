import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandboxDriver } from '../../../src/compose/sandbox-driver.ts'
import { startService } from '../../../src/compose/start-service.ts'
import { readConfig } from '../../../src/config.ts'
import { Readiness } from '../../../src/contract/service.ts'
import { newToken } from '../../../src/core/access/token.ts'
import { toServiceError } from '../../../src/http/problem-response.ts'
import { Database } from '../../../src/store/database.ts'
import { append } from '../../../src/store/runs/append.ts'
import { prepareDataFolder } from '../../../src/system/data-folder.ts'
import { sandboxNode } from '../../../src/system/sandbox-node.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { entry } from '../../../src/trace/entry.ts'
import { createTestDatabase } from '../../database.ts'
import { type ApiResponse, TOKEN } from '../../start-app.ts'
import { addTenant } from '../access/second-organization.ts'
import { expectProblem } from '../expect-problem.ts'
import { openFrames } from '../trace/read-frames.ts'
import { DatabaseProxy } from './database-proxy.ts'

const stack = new AsyncDisposableStack()
let base_url: string
let proxy: DatabaseProxy
let direct: Database
const logs: unknown[] = []
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  direct = stack.use(new Database(url, { max: 1, on_error: () => {} }))
  proxy = stack.use(new DatabaseProxy(url))
  await proxy.up()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const users = ensureSystemUsers()
  const data = prepareDataFolder({ path: join(folder, 'data'), clone_dir: folder, users })
  const service = stack.use(
    await startService({
      role: 'all',
      config: readConfig({
        AGENTRUN_PORT: '0',
        AGENTRUN_INIT_TOKEN: TOKEN,
        AGENTRUN_WORKER_CONCURRENCY: '0',
      }),
      database_url: proxy.url,
      data,
      secret_key: Buffer.alloc(32),
      users,
      node_path: sandboxNode(data.root, users.sandbox),
      web: '/nowhere',
      version: 'test',
      path: '',
      log: (level, message, fields) => logs.push({ level, message, fields }),
      createDriver: createSandboxDriver,
    }),
  )
  base_url = service.api?.base_url ?? ''
})
afterAll(() => stack.disposeAsync())

async function call(path: string, token = TOKEN): Promise<ApiResponse> {
  const response = await fetch(base_url + path, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
function expectAway(result: ApiResponse) {
  expect(expectProblem(result, 503).code).toBe('unavailable')
  expect(result.headers.get('retry-after')).toBe('2')
}
/** Polls until the service uses the database again. */
async function untilReady() {
  const deadline = Date.now() + 10_000
  while ((await call('/readyz')).status !== 200)
    if (Date.now() > deadline) throw new Error('the service did not find its database again')
}
const listeners = async () =>
  (
    await direct.query<{ n: number }>({
      text: `select count(*) as n
        from pg_stat_activity
        where datname = current_database() and application_name = 'agentrun-listen'`,
    })
  ).rows[0]?.n

describe('with a database', () => {
  test('healthz and readyz are 200, for everybody', async () => {
    expect(await fetch(`${base_url}/healthz`).then(result => result.json())).toEqual({ status: 'ok' })
    const ready = await fetch(`${base_url}/readyz`)
    expect(ready.status).toBe(200)
    expect(Readiness.strict().parse(await ready.json())).toMatchObject({
      status: 'ready',
      database: 'ok',
      version: 'test',
    })
  })
})

describe('without its database', () => {
  test('the process is live, is not ready, and reports every request as retryable', async () => {
    await proxy.down()
    expect((await call('/healthz')).status).toBe(200)
    expect((await call('/openapi.json')).status).toBe(200)
    expectAway(await call('/readyz'))
    for (const path of [
      '/v1/users/me',
      '/v1/organizations',
      '/v1/organizations/1/agent/runs',
      '/v1/organizations/1/events',
    ])
      expectAway(await call(path))
  })

  test('F95 a malformed token is refused without a query', async () => {
    const created = newToken('p')
    expectAway(await call('/v1/users/me', created))
    expectProblem(
      await call('/v1/users/me', `${created.slice(0, -1)}${created.endsWith('0') ? '1' : '0'}`),
      401,
    )
    expectProblem(await call('/v1/users/me', created.toLowerCase()), 401)
  })

  test('it is used again without a restart, and the recovery is reported once', async () => {
    for (let i = 0; i < 3; i++) {
      await proxy.up()
      await untilReady()
      expect((await call('/v1/users/me')).status).toBe(200)
      await proxy.down()
      expectAway(await call('/v1/users/me'))
    }
    await proxy.up()
    await untilReady()
    const deadline = Date.now() + 10_000
    while ((await listeners()) === 0)
      if (Date.now() > deadline) throw new Error('the service no longer listens')
    expect(await listeners()).toBe(1)
    expect(JSON.stringify(logs)).not.toContain(TOKEN)
  })

  test('a stream that was open before continues afterwards, without gaps or duplicates', async () => {
    const tenant = await addTenant({ db: direct }, 'Streaming')
    const path = `/v1/organizations/${tenant.org_id}/agent/run/${tenant.run_id}/events`
    await using reader = await openFrames({ base_url, token: tenant.token }, path)
    await reader.until(frames => frames.length === 2)
    await proxy.down()
    const more = Array.from({ length: 5 }, () =>
      entry({ message_type: 'ERROR', observation: 'written elsewhere' }),
    )
    await append(direct, tenant.org_id, tenant.run_id, null, { entries: more })
    await proxy.up()
    await reader.until(frames => frames.filter(frame => frame.event === 'log').length === 6)
    expect(reader.frames.filter(frame => frame.event === 'log').map(frame => frame.id)).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
    ])
  })

  test('a server that accepts connections and never responds is unavailable after a statement timeout and two seconds', async () => {
    await using silent = new Database(proxy.url, { max: 2, on_error: () => {}, statement_ms: 100 })
    await silent.query({ text: 'select 1' })
    proxy.silence()
    const slow = silent.query({ text: 'select 1' }).catch((error: unknown) => toServiceError(error))
    const transaction = silent
      .transaction(tx => tx.query({ text: 'select 1' }))
      .catch((error: unknown) => toServiceError(error))
    const [ready, ...errors] = await Promise.all([call('/readyz'), slow, transaction])
    expectAway(ready)
    for (const error of errors) expect(error).toMatchObject({ code: 'unavailable' })
    await proxy.down()
    await proxy.up()
    await untilReady()
  })
})

test('a statement that waits for a lock is given up, and the connection remains usable', async () => {
  await using patient = new Database(proxy.url, { max: 1, on_error: () => {}, statement_ms: 200 })
  await direct.transaction(async tx => {
    await tx.query({ text: 'lock table organizations' })
    const error = await patient
      .query({ text: 'select 1 from organizations' })
      .catch((reason: unknown) => toServiceError(reason))
    expect(error).toMatchObject({ code: 'unavailable' })
  })
  expect((await patient.query({ text: 'select 1 from organizations limit 1' })).rows).toHaveLength(1)
})
