import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Database } from '../../../src/store/database.ts'
import { createTestDatabase } from '../../database.ts'

const STATEMENT_MS = 500
/** Longer than the client waits for a response. */
const OCCUPIED_MS = STATEMENT_MS + 1_500

test('a response that arrives while the event loop is occupied is not a timeout, and its connection remains usable', async () => {
  await using database = await createTestDatabase()
  await using db = new Database(database.url, { max: 1, on_error: () => {}, statement_ms: STATEMENT_MS })
  const backend = async () =>
    (await db.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })).rows[0]?.pid
  const pid = await backend()
  const sent = db.query<{ one: number }>({ text: 'select 1 as one from pg_sleep(0.2)' })
  // The statement is sent in this turn of the event loop.
  await nextTurn()
  for (const end = performance.now() + OCCUPIED_MS; performance.now() < end; );
  expect((await sent).rows).toEqual([{ one: 1 }])
  expect(await backend()).toBe(pid)
})
