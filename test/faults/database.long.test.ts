import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toServiceError } from '../../src/http/problem-response.ts'
import { Database } from '../../src/store/database.ts'
import { DatabaseProxy } from '../api/database/database-proxy.ts'
import { expectProblem } from '../api/expect-problem.ts'
import { createTestDatabase } from '../database.ts'
import { type ApiResponse, type App, startApp } from '../start-app.ts'

const stack = new AsyncDisposableStack()
let proxy: DatabaseProxy
let direct: Database
let app: App
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  direct = stack.use(new Database(url, { max: 4, on_error: () => {} }))
  proxy = stack.use(new DatabaseProxy(url))
  await proxy.up()
  app = stack.use(await startApp({ DATABASE_URL: proxy.url, AGENTRUN_WORKER_CONCURRENCY: '0' }))
})
afterAll(() => stack.disposeAsync())

const health = async (path: string) => (await fetch(app.base_url + path)).status
const runs = () => app.call('GET', `/v1/organizations/${app.org_id}/agent/runs`)

const me = () => app.call('GET', '/v1/users/me')

function expectAway(response: ApiResponse) {
  expect(expectProblem(response, 503).code).toBe('unavailable')
  expect(response.headers.get('retry-after')).toBe('2')
}

/** Polls until the service uses the database again; rejects at the timeout. */
async function untilFound(within_ms: number) {
  const signal = AbortSignal.timeout(within_ms)
  while ((await runs()).status !== 200) signal.throwIfAborted()
}

test('faults 12 and 13: while a table is locked requests that need it get 503 with Retry-After, others are served, and health is unaffected', async () => {
  await direct.transaction(async tx => {
    await tx.query({ text: 'lock table runs' })
    const requested = runs()
    expect([await health('/healthz'), await health('/readyz'), (await me()).status]).toEqual([200, 200, 200])
    // More than there are connections: now those that do not need the table wait too.
    const crowd = Array.from({ length: 60 }, () => runs())
    const others = Array.from({ length: 20 }, () => me())
    expect([await health('/healthz'), await health('/readyz')]).toEqual([200, 200])
    for (const response of await Promise.all([requested, ...crowd])) expectAway(response)
    for (const response of await Promise.all(others)) if (response.status !== 200) expectAway(response)
  })
  expect((await runs()).status).toBe(200)
})

test('fault 13: of a thousand requests at once each gets its response or 503', async () => {
  const responses = await Promise.all(Array.from({ length: 1_000 }, me))
  for (const response of responses) if (response.status !== 200) expectAway(response)
  expect((await me()).status).toBe(200)
})

describe('fault 14: another transaction undoes ours', () => {
  test('two that wait for each other both succeed: the one that is undone is done again', async () => {
    await direct.query({ text: 'create table pairs (id int primary key, n int not null)' })
    await direct.query({ text: 'insert into pairs values (1, 0), (2, 0)' })
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    const attempts = [0, 0]
    const add = (who: 0 | 1) =>
      direct.transaction(async tx => {
        const order = who === 0 ? [1, 2] : [2, 1]
        attempts[who] = (attempts[who] ?? 0) + 1
        await tx.query({ text: 'update pairs set n = n + 1 where id = $1', values: [order[0]] })
        both[who].resolve()
        await both[1 - who]?.promise
        await tx.query({ text: 'update pairs set n = n + 1 where id = $1', values: [order[1]] })
      })
    await Promise.all([add(0), add(1)])
    expect((await direct.query({ text: 'select n from pairs order by id' })).rows).toEqual([
      { n: 2 },
      { n: 2 },
    ])
    expect(attempts.toSorted()).toEqual([1, 2])
  })

  test.each(['40001', '40P01'])(
    '%s again and again is tried four times in all, then it is 503',
    async code => {
      const undone = { text: `do $$ begin raise exception 'undone' using errcode = '${code}'; end $$` }
      let attempts = 0
      const error = await direct
        .transaction(async tx => {
          attempts++
          await tx.query(undone)
        })
        .catch(toServiceError)
      expect(attempts).toBe(4)
      expect(error).toMatchObject({ code: 'unavailable' })
      await expect(direct.query(undone)).rejects.toMatchObject({ code })
    },
  )
})

describe('fault 10: the database is away', () => {
  test('one that was in the middle for too long no longer holds anything, and is done again', async () => {
    await using ours = new Database(direct.connection_string, { max: 1, on_error: () => {}, idle_ms: 200 })
    let attempts = 0
    await direct.query({ text: 'create table middles (n int)' })
    await ours.transaction(async tx => {
      attempts++
      await tx.query({ text: 'insert into middles values (1)' })
      const over = `select 1
        from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'`
      if (attempts === 1)
        await expect
          .poll(async () => (await direct.query({ text: over })).rows, { timeout: 20_000 })
          .toEqual([])
    })
    expect(attempts).toBe(2)
    expect((await direct.query({ text: 'select n from middles' })).rows).toEqual([{ n: 1 }])
  })

  test('a connection that breaks between two statements of a transaction ends that transaction and nothing else', async () => {
    const failed = direct.transaction(async tx => {
      const { rows } = await tx.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })
      await direct.query({ text: 'select pg_terminate_backend($1, 5000)', values: [rows[0]?.pid] })
      await tx.query({ text: 'create table half (id int)' })
    })
    await expect(failed.catch(toServiceError)).resolves.toMatchObject({ code: 'unavailable' })
    expect((await direct.query({ text: `select to_regclass('half') as half` })).rows).toEqual([
      { half: null },
    ])
  })

  test('one that refuses connections: 503 at once, and found again without a restart', async () => {
    await proxy.down()
    for (const response of await Promise.all([
      runs(),
      app.call('GET', '/v1/users/me'),
      app.call('GET', '/readyz'),
    ]))
      expectAway(response)
    expect(await health('/healthz')).toBe(200)
    await proxy.up()
    await untilFound(5_000)
  })

  test('one that freezes: waiting requests get 503 within seconds, and it is used again when it thaws', async () => {
    await runs()
    proxy.silence()
    const signal = AbortSignal.timeout(4_000)
    for (const response of await Promise.all([runs(), runs(), app.call('GET', '/readyz')]))
      expectAway(response)
    // Requests do not wait for a server that is known to be unresponsive.
    for (const response of await Promise.all(Array.from({ length: 100 }, runs))) expectAway(response)
    signal.throwIfAborted()
    proxy.speak()
    await untilFound(5_000)
  })
})
