import { cpSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { expect, test } from 'vitest'
import { isDatabaseAway } from '../../../src/core/database-away.ts'
import { migrate, migrateWhenThere, requireMigrated } from '../../../src/store/migrate.ts'
import { emptyDatabase } from '../../empty-database.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { DatabaseProxy } from './database-proxy.ts'

const applied = 'select name, digest from migrations order by name'
const tables = `select table_name, column_name, data_type
  from information_schema.columns
  where table_schema = 'public'
  order by 1, 2`

test('an empty database gets every migration once, and a second start changes nothing', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url)
  const [done, columns] = [await database.query(applied), await database.query(tables)]
  expect(done.map(row => row.name)).toContain('0001_baseline.sql')
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

/** As if a newer version had migrated. */
const later = (name: string, needs: string | null) =>
  `insert into migrations (name, digest, needs)
    values ('${name}', 'x', ${needs === null ? 'null' : `'${needs}'`})`

test('an incompatible newer schema is refused with the name of the unknown migration', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url)
  await database.query(later('9999_future.sql', '9999_future.sql'))
  const before = await database.query(tables)
  const refusal =
    'the database contains migration 9999_future.sql, which this version cannot run on: start a newer version'
  await expect(migrate(database.url)).rejects.toThrow(refusal)
  await expect(requireMigrated(database.url)).rejects.toThrow(refusal)
  expect(await database.query(tables)).toEqual(before)
})

test('a newer schema is accepted if it only adds, or removes what this version no longer uses', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url)
  await database.query(later('9997_more.sql', null))
  await database.query(later('9998_less.sql', '0001_baseline.sql'))
  await migrate(database.url)
  await requireMigrated(database.url)
  await database.query(later('9999_less.sql', '9997_more.sql'))
  await expect(migrate(database.url)).rejects.toThrow('9999_less.sql, which this version cannot run on')
})

test('a command refuses to run until its migrations are applied by a start of its version', async () => {
  await using database = await emptyDatabase()
  await expect(requireMigrated(database.url)).rejects.toThrow('the database is empty')
  await migrate(database.url)
  const [newest] = await database.query(
    `delete from migrations
      where name = (select max(name) from migrations)
      returning name`,
  )
  expect(newest?.name).toMatch(/^\d{4}_/)
  await expect(requireMigrated(database.url)).rejects.toThrow('older than this command')
})

test('a migration waits for a table that is in use without delaying later statements', async () => {
  await using database = await emptyDatabase()
  using folder = temporaryFolder()
  await migrate(database.url)
  cpSync(new URL('../../../src/store/migrations', import.meta.url), folder.path, { recursive: true })
  await writeFile(`${folder.path}/9999_next.sql`, 'alter table runs add column of_next text;')
  const user = new pg.Client({ connectionString: database.url })
  await user.connect()
  await user.query('begin')
  await user.query('select count(*) from runs')
  const migrated = migrate(database.url, { folder: pathToFileURL(`${folder.path}/`) })
  const locks = `select 1 from pg_locks where relation = 'runs'::regclass and not granted`
  while ((await database.query(locks)).length === 0);
  // This waits for as long as a waiting `alter table` before it.
  expect(await database.query('select count(*)::int as n from runs')).toEqual([{ n: 0 }])
  await user.query('commit')
  await user.end()
  await migrated
  expect(await database.query(`select of_next from runs`)).toEqual([])
})

test('a migration that was changed after it was applied is refused', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url)
  await database.query(`update migrations set digest = 'other' where name = '0001_baseline.sql'`)
  await expect(migrate(database.url)).rejects.toThrow(
    'migration 0001_baseline.sql was changed after it had been applied',
  )
})

test('a failed migration changes nothing, and blocks no other', async () => {
  await using database = await emptyDatabase()
  await database.query('create table runs (something_else int)')
  await expect(migrate(database.url)).rejects.toThrow('already exists')
  expect(await database.query(applied)).toEqual([])
  expect(
    await database.query(`select count(*)::int as n from pg_tables where schemaname = 'public'`),
  ).toEqual([{ n: 2 }])
  await database.query('drop table runs')
  await migrate(database.url)
})

test('a database is migrated with its data', async () => {
  await using database = await emptyDatabase()
  using folder = temporaryFolder()
  await migrate(database.url)
  await database.query(`insert into organizations (name)
    values ('a');
    insert into users (full_name)
    values ('u');
    insert into repositories (organization_id, name, full_name, url, kind)
    values (1, 'r', 'r', '/r', 'local');
    update organizations
    set default_repository_id = 1;
    insert into runs (
      organization_id, user_id, repository_id, status, source_type, agent_type, model, prompt, title,
      deadline_at
    )
    values (1, 1, 1, 'queued', 'API', 'a', 'm', 'p', 't', now());
    insert into log_entries (run_id, seq, organization_id, turn, message_type, body)
    values (1, 1, 1, 1, 'ERROR', '{}')`)
  cpSync(new URL('../../../src/store/migrations', import.meta.url), folder.path, { recursive: true })
  await writeFile(
    `${folder.path}/9999_next.sql`,
    `alter table runs add column of_next text not null default 'x';`,
  )
  await migrate(database.url, { folder: pathToFileURL(`${folder.path}/`) })
  expect(
    await database.query(`select r.id, r.of_next, l.seq, o.default_repository_id
      from runs r
      join log_entries l on l.run_id = r.id
      join organizations o on o.id = 1`),
  ).toEqual([{ id: '1', of_next: 'x', seq: 1, default_repository_id: '1' }])
})

test('a database of a development version from before the baseline is refused and not changed', async () => {
  await using database = await emptyDatabase()
  await database.query(`create table migrations (name text primary key, digest text not null, applied_at timestamptz not null default now());
    create table runs (id int); insert into migrations (name, digest) values ('0001_first_light.sql', 'x')`)
  await expect(migrate(database.url)).rejects.toThrow(
    'a development version from before 0.1.0: start this version with a new database',
  )
  expect(await database.query(`select name from migrations`)).toEqual([{ name: '0001_first_light.sql' }])
})

test('an unavailable database is awaited until the timeout of the caller, and reported once', async () => {
  await using database = await emptyDatabase()
  await using proxy = new DatabaseProxy(database.url)
  await proxy.up()
  await proxy.down()
  await expect(migrateWhenThere(proxy.url, 0, () => {})).rejects.toThrow(
    /^the database cannot be used \(connect ECONNREFUSED [^\n]*\): check DATABASE_URL and the server that it names$/,
  )
  const absent = new URL(proxy.url)
  absent.pathname = '/absent'
  await proxy.up()
  await expect(migrateWhenThere(absent.href, 0, () => {})).rejects.toThrow(
    /^the database cannot be used \(database "absent" does not exist\): check/,
  )
  await proxy.down()
  const reasons: string[] = []
  await migrateWhenThere(proxy.url, 30_000, reason => {
    reasons.push(reason)
    void proxy.up()
  })
  expect(reasons).toEqual([expect.stringContaining('ECONNREFUSED')])
  expect((await database.query(applied)).length).toBeGreaterThan(0)
})

test('a server that accepts connections and never responds is unavailable, and does not block the start', async () => {
  const silent = createServer(() => {})
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as { port: number }
  const started = migrateWhenThere(`postgres://x@127.0.0.1:${port}/x`, 0, () => {})
  const error = await started.catch((error: unknown) => error)
  expect(error).toMatchObject({
    message: 'the database cannot be used (timeout expired): check DATABASE_URL and the server that it names',
    cause: { message: 'timeout expired' },
  })
  expect(isDatabaseAway((error as Error).cause)).toBe(true)
  silent.close()
}, 20_000)
