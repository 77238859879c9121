import pg from 'pg'
import { expect, test } from 'vitest'
import { migrate } from '../../../src/store/migrate.ts'
import { emptyDatabase } from '../../empty-database.ts'

/** The migrations of a folder of their own, up to one. */
const until = (last: string) => ({ only: (name: string) => name <= last })
const addRun = (title: string) => `insert into runs (
    organization_id, user_id, repository_id, status, source_type, agent_type, model, prompt, title,
    deadline_at
  )
  values (1, 1, 1, 'queued', 'API', 'a', 'm', 'The Prompt', '${title}', now())`
const people = `insert into organizations (name)
  values ('a');
  insert into users (full_name)
  values ('u');
  insert into repositories (organization_id, name, full_name, url, kind)
  values (1, 'r', 'r', '/r', 'local')`
const texts = `select split_part(text, E'\\x1f', 1) as title from run_texts order by run_id`
const invalid = 'select indexrelid::regclass::text as name from pg_index where not indisvalid'
const lists = `select 1 from pg_indexes where indexname = 'sandboxes_created'`
const builds = `select 1 from pg_locks where locktype = 'virtualxid' and not granted`

async function connected(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

test('indexes of large tables are built and texts of existing runs stored while others write', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url, until('0001_z'))
  await database.query(
    `${people}; ${Array.from({ length: 2_500 }, (_, n) => addRun(`Before ${n}`)).join(';')}`,
  )
  await migrate(database.url, until('0004_z'))
  {
    await using writer = await connected(database.url)
    await writer.client.query('begin')
    await writer.client.query(addRun('Open'))
    const migrated = migrate(database.url)
    while ((await database.query(builds)).length === 0);
    await database.query(addRun('Meanwhile'))
    expect(await database.query(lists)).toEqual([])
    await writer.client.query('commit')
    await migrated
  }
  const found = (await database.query(texts)).map(({ title }) => title)
  expect(found).toHaveLength(2_502)
  expect(found.slice(-3)).toEqual(['before 2499', 'open', 'meanwhile'])
  expect(await database.query(invalid)).toEqual([])
})

test('a process of an older version that waits for the lock does not stop the build of an index', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url, until('0004_z'))
  await database.query(people)
  await using writer = await connected(database.url)
  await writer.client.query('begin')
  await writer.client.query(addRun('Open'))
  const migrated = migrate(database.url)
  while ((await database.query(builds)).length === 0);
  await using older = await connected(database.url)
  const waiting = older.client.query('select pg_advisory_lock(4600001)')
  // It gets the lock, and gives it up when it has found nothing to do.
  await waiting
  await writer.client.query('commit')
  await older.client.query('select pg_advisory_unlock(4600001)')
  await migrated
  expect(await database.query(invalid)).toEqual([])
  expect(await database.query(lists)).toHaveLength(1)
})

test('a build that was interrupted is started again', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url, until('0004_z'))
  await database.query(people)
  await using writer = await connected(database.url)
  await writer.client.query('begin')
  await writer.client.query(addRun('Open'))
  const interrupted = expect(migrate(database.url)).rejects.toThrow()
  while ((await database.query(builds)).length === 0);
  await database.query(
    `select pg_terminate_backend(pid)
      from pg_locks
      where locktype = 'virtualxid' and not granted`,
  )
  await interrupted
  await writer.client.query('commit')
  expect(await database.query(invalid)).toEqual([{ name: 'runs_of_shown_status' }])
  await migrate(database.url)
  expect(await database.query(invalid)).toEqual([])
})

test('the text of a run that a search reads follows its title in any version, and is stored once', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url)
  // As code of before the trigger: it stores the text in the same statement.
  const older = `with run as (${addRun('First')} returning organization_id, id, title, prompt)
    insert into run_texts select organization_id, id, lower(title || E'\\x1f' || prompt) from run`
  await database.query(
    `${people}; ${older}; ${addRun('Second')}; update runs set title = 'Other' where id = 2`,
  )
  expect(await database.query(texts)).toEqual([{ title: 'first' }, { title: 'other' }])
})

test('the tags of runs from before the table are copied, and those of later runs follow every change', async () => {
  await using database = await emptyDatabase()
  await migrate(database.url, until('0003_z'))
  await database.query(`${people}; ${addRun('Before')}; update runs set tags = '{a,b,a}'`)
  await migrate(database.url)
  const tags = 'select run_id::int as run, tag from run_tags order by run_id, tag'
  expect(await database.query(tags)).toEqual([
    { run: 1, tag: 'a' },
    { run: 1, tag: 'b' },
  ])
  await database.query(
    `${addRun('After')}; update runs set tags = '{c,d}' where id = 2; update runs set tags = '{b,c}'; delete from runs where id = 1`,
  )
  expect(await database.query(tags)).toEqual([
    { run: 2, tag: 'b' },
    { run: 2, tag: 'c' },
  ])
})
