import { expect, test } from 'vitest'
import { Database } from '../../../src/store/database.ts'
import { tryAcquireTick } from '../../../src/store/runs/ticks.ts'
import { createTestDatabase } from '../../database.ts'

test('of twenty processes that compete for a tick one acquires it, and one again after the interval', async () => {
  await using database = await createTestDatabase()
  await using stack = new AsyncDisposableStack()
  const processes = Array.from({ length: 20 }, () =>
    stack.use(new Database(database.url, { max: 1, on_error: () => {} })),
  )
  const [one = processes[0]] = processes
  const acquirers = async () =>
    (await Promise.all(processes.map(db => tryAcquireTick(db, 'sweep', 3_600)))).filter(taken => taken).length
  expect(await acquirers()).toBe(1)
  expect(await acquirers()).toBe(0)
  await one?.query({ text: `update ticks set taken_at = taken_at - interval '1 hour'` })
  expect(await acquirers()).toBe(1)
  expect(await tryAcquireTick(processes[0] as Database, 'something else', 3_600)).toBe(true)
})

test('a clock that was set back blocks no process from a tick', async () => {
  await using database = await createTestDatabase()
  await using db = new Database(database.url, { max: 1, on_error: () => {} })
  expect(await tryAcquireTick(db, 'clock', 60)).toBe(true)
  await db.query({ text: `update ticks set taken_at = now() + interval '1 hour'` })
  expect(await tryAcquireTick(db, 'clock', 60)).toBe(true)
  expect(await tryAcquireTick(db, 'clock', 60)).toBe(false)
})
