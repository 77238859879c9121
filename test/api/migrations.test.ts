import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { migrate } from '../../src/store/migrate.ts'

/** An empty database, dropped at the end. `query` answers rows. */
async function emptyDatabase() {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const admin = new pg.Client({ connectionString: inject('admin_url') })
  await admin.connect()
  await admin.query(`create database ${name} template template0`)
  const url = new URL(inject('admin_url'))
  url.pathname = `/${name}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  return {
    url: url.href,
    query: async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows,
    async [Symbol.asyncDispose]() {
      await client.end()
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    },
  }
}
const applied = 'select name, digest from migrations order by name'
const tables = `select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, 2`

test('an empty database gets every migration once, and a second start changes nothing', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url)
  const [done, columns] = [await database.query(applied), await database.query(tables)]
  expect(done.map(row => row.name)).toContain('0001_first_light.sql')
  expect(columns.length).toBeGreaterThan(50)
  await migrate(database.url)
  expect(await database.query(applied)).toEqual(done)
  expect(await database.query(tables)).toEqual(columns)
})

test('eight processes that start at once migrate once', async () => {
  await using database = await emptyDatabase()
  await Promise.all(Array.from({ length: 8 }, () => migrate(database.url)))
  const names = (await database.query(applied)).map(row => row.name)
  expect(new Set(names).size).toBe(names.length)
})

test('a database that a newer version has written is refused, by the name of what is unknown', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url)
  await database.query(`insert into migrations (name, digest) values ('9999_future.sql', 'x')`)
  const before = await database.query(tables)
  await expect(migrate(database.url)).rejects.toThrow(
    'the database holds migration 9999_future.sql, which this version does not know: start a newer version',
  )
  expect(await database.query(tables)).toEqual(before)
})

test('a migration that was changed after it had been applied is refused', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url)
  await database.query(`update migrations set digest = 'other' where name = '0001_first_light.sql'`)
  await expect(migrate(database.url)).rejects.toThrow('migration 0001_first_light.sql was changed after it had been applied')
})

test('a migration that fails leaves nothing of itself, and holds nobody up', async () => {
  await using database = await emptyDatabase()
  await database.query('create table runs (something_else int)')
  await expect(migrate(database.url)).rejects.toThrow('already exists')
  expect(await database.query(applied)).toEqual([])
  expect(await database.query(`select count(*)::int as n from pg_tables where schemaname = 'public'`)).toEqual([{ n: 2 }])
  await database.query('drop table runs')
  await migrate(database.url)
})

test('a database of the first schema is brought forward with its data', async () => {
  await using database = await emptyDatabase()
  const sql = await readFile(new URL('../../src/store/migrations/0001_first_light.sql', import.meta.url), 'utf8')
  await database.query(
    'create table migrations (name text primary key, digest text not null, applied_at timestamptz not null default now())',
  )
  await database.query(sql)
  await database.query(`insert into migrations (name, digest) values ('0001_first_light.sql', $1)`, [
    createHash('sha256').update(sql).digest('hex'),
  ])
  await database.query(`insert into organizations (name) values ('a'); insert into users (full_name) values ('u');
    insert into repositories (organization_id, name, full_name, url, kind) values (1, 'r', 'r', '/r', 'local');
    update organizations set default_repository_id = 1;
    insert into runs (organization_id, user_id, repository_id, status, source_type, agent_type, model, prompt, title) values (1, 1, 1, 'queued', 'API', 'a', 'm', 'p', 't');
    insert into log_entries (run_id, seq, organization_id, turn, message_type, body) values (1, 1, 1, 1, 'ERROR', '{}')`)
  await migrate(database.url)
  expect(
    await database.query(
      'select r.id, l.seq, o.default_repository_id from runs r join log_entries l on l.run_id = r.id join organizations o on o.id = 1',
    ),
  ).toEqual([{ id: '1', seq: 1, default_repository_id: '1' }])
})
