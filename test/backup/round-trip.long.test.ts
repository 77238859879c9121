import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { backUp } from '../../src/backup/backup.ts'
import { restore } from '../../src/backup/restore.ts'
import { SAMPLE_PROMPT } from '../../src/core/repositories/sample.ts'
import { migrate } from '../../src/store/migrate.ts'
import { emptyDatabase } from '../empty-database.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { startApp } from '../start-app.ts'
import { type BackedUpApp, connected, contentOf, startBackedUpApp } from './backed-up-app.ts'

let source: BackedUpApp
beforeAll(async () => {
  source = await startBackedUpApp()
})
afterAll(() => source[Symbol.asyncDispose]())

test('the service starts on it, old tokens are good, and a new run works', async () => {
  await using target = await emptyDatabase()
  await restore(target.url, source.file)
  await using again = await startApp({ DATABASE_URL: target.url })
  expect((await again.call('GET', '/v1/users/me')).status).toBe(200)
  const { id } = await createRun(again, { prompt: SAMPLE_PROMPT })
  expect(id).toBeGreaterThan(10_000)
  expect(await awaitEnd(again, id)).toMatchObject({ status: 'completed' })
})

test('a file that was truncated, changed, or is something else is refused, and the database stays as empty as it was', async () => {
  const whole = readFileSync(source.file)
  const content = gunzipSync(whole)
  const flipped = Buffer.from(content)
  flipped.write('Yours', flipped.indexOf('My organization'))
  const bad: [string, Buffer, RegExp][] = [
    ['cut', whole.subarray(0, whole.length - 100), /truncated/],
    ['half', whole.subarray(0, whole.length / 2), /truncated/],
    ['no-end', gzipSync(content.subarray(0, content.length - 80)), /truncated/],
    ['flipped', gzipSync(flipped), /was changed after it was written/],
    ['text', Buffer.from('hello'), /truncated or changed, or it is not a backup/],
    ['other', gzipSync('{"a": 1, "b": "something else"}'), /not a backup/],
    ['empty', Buffer.alloc(0), /not a backup/],
  ]
  await using target = await emptyDatabase()
  for (const [name, bytes, words] of bad) {
    const path = join(source.folder, name)
    writeFileSync(path, bytes)
    await expect(restore(target.url, path), name).rejects.toThrow(words)
    const [found] = await target.query(
      `select count(*)::int as n
        from pg_tables
        where schemaname = 'public' and tablename = 'organizations'`,
    )
    if (found?.n === 1)
      expect({
        name,
        left: await target.query('select 1 from organizations union all select 1 from runs'),
      }).toEqual({ name, left: [] })
  }
  await restore(target.url, source.file)
  expect(await contentOf(target.url)).toEqual(await contentOf(source.app.database_url))
})

test('a database that is in use, and a backup of a newer version, are refused', async () => {
  await using used = await emptyDatabase()
  await restore(used.url, source.file)
  await expect(restore(used.url, source.file)).rejects.toThrow('the database is not empty')
  await using newer = await emptyDatabase()
  await migrate(newer.url)
  await newer.query(`insert into migrations (name, digest) values ('9999_next.sql', 'x')`)
  await backUp(newer.url, join(source.folder, 'newer'), '9.9.9')
  await using target = await emptyDatabase()
  await expect(restore(target.url, join(source.folder, 'newer'))).rejects.toThrow(
    'taken by version 9.9.9, with migration 9999_next.sql',
  )
  expect(await target.query(`select 1 from pg_tables where schemaname = 'public'`)).toEqual([])
})

test('a backup replaces no file, and one that fails leaves none', async () => {
  await expect(backUp(source.app.database_url, source.file, 'test')).rejects.toThrow('exists already')
  await expect(
    backUp('postgres://nobody@127.0.0.1:1/nothing', join(source.folder, 'never'), 'test'),
  ).rejects.toThrow('ECONNREFUSED')
  expect(() => statSync(join(source.folder, 'never'))).toThrow('ENOENT')
  expect(() => statSync(join(source.folder, 'never.part'))).toThrow('ENOENT')
})

test('a backup whose connection breaks is rejected, and leaves no file', async () => {
  await using busy = await emptyDatabase()
  await migrate(busy.url)
  const path = join(source.folder, 'broken')
  await busy.query('begin')
  await busy.query('lock table runs in access exclusive mode')
  const failed = expect(backUp(busy.url, path, 'test')).rejects.toThrow()
  const terminate = `select pg_terminate_backend(pid)
    from pg_stat_activity
    where application_name = 'agentrun-backup'
      and datname = current_database()
      and query like 'copy %'
      and wait_event_type = 'Lock'`
  // On a session of its own: a transaction sees one state of pg_stat_activity.
  await connected(busy.url, client =>
    vi.waitUntil(async () => (await client.query(terminate)).rowCount === 1, { timeout: 20_000 }),
  )
  await failed
  expect(() => statSync(`${path}.part`)).toThrow('ENOENT')
})
