import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { dumpSchema } from '../../scripts/schema-dump.ts'
import { backUp } from '../../src/backup/backup.ts'
import { restore } from '../../src/backup/restore.ts'
import { SAMPLE_PROMPT } from '../../src/core/repositories/sample.ts'
import { migrate } from '../../src/store/migrate.ts'
import { addTenant } from '../api/access/second-organization.ts'
import { emptyDatabase } from '../empty-database.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { type App, rows, startApp } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'

let app: App
let folder: ReturnType<typeof temporaryFolder>
let file: string
beforeAll(async () => {
  folder = temporaryFolder()
  app = await startApp()
  const { id } = await createRun(app, { prompt: SAMPLE_PROMPT, tags: ['a "b"', 'c,d\\e'], metadata: { tab: '\t', line: 'one\ntwo' } })
  await awaitEnd(app, id)
  const { run_id, org_id } = await addTenant(app)
  // Every byte there is, what COPY escapes, and a run with an owner.
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 256))
  const artifact = `insert into artifacts (organization_id, run_id, seq, content_type, content, total_bytes) values ($1, $2, 1, 'x', $3, 70000)`
  await app.db.query({ text: artifact, values: [org_id, run_id, bytes] })
  await app.db.query({ text: `update runs set result = E'\\\\N \\t\\\\. \\r\\n ü😀\u2028' where id = $1`, values: [run_id] })
  const at_work = `update runs set status = 'running', phase = 'agent', owner = 'them', epoch = 3, runnable_at = null, lease_until = now() + interval '9 minutes' where id = $1`
  await app.db.query({ text: at_work, values: [run_id] })
  file = join(folder.path, 'backup')
  await backUp(app.database_url, file, 'test')
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Every row of every table as text, but for what a restore settles. */
async function contentOf(url: string): Promise<Record<string, string[]>> {
  return connected(url, async client => {
    const { rows: tables } = await client.query(`select tablename as name from pg_tables where schemaname = 'public' order by 1`)
    const settled: Record<string, string> = {
      runs: `(to_jsonb(t) - '{epoch,workspace,workspace_host,sandbox,lease_until}'::text[])::text`,
      organizations: `(to_jsonb(t) - 'event_seq')::text`,
      migrations: `(to_jsonb(t) - 'applied_at')::text`,
    }
    const content: Record<string, string[]> = {}
    for (const { name } of tables) {
      if (['rate_windows', 'workers', 'ticks'].includes(name)) continue
      const { rows: lines } = await client.query({
        text: `select ${settled[name] ?? 't::text'} from ${name} t order by 1`,
        rowMode: 'array',
      })
      content[name] = lines.flat()
    }
    return content
  })
}

test('a restored database has every row and the whole schema of the one that was backed up', async () => {
  await using target = await emptyDatabase()
  const reported = await restore(target.url, file)
  const [before, after] = [await contentOf(app.database_url), await contentOf(target.url)]
  expect(after).toEqual(before)
  expect(reported.rows).toBe(Object.entries(before).reduce((sum, [name, lines]) => sum + (name === 'migrations' ? 0 : lines.length), 0))
  expect(Object.values(before).filter(lines => lines.length > 0).length).toBeGreaterThan(15)
  const [schema, restored] = [await connected(app.database_url, dumpSchema), await connected(target.url, dumpSchema)]
  expect(restored).toBe(schema)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('numbers that were assigned after the backup are never reused, and earlier owners of a run are fenced', async () => {
  await using target = await emptyDatabase()
  await restore(target.url, file)
  const [old] = await rows<{ id: number; event_seq: number }>(
    app,
    'select max(r.id) as id, max(o.event_seq) as event_seq from runs r, organizations o',
  )
  const [run] = await target.query(
    'select epoch, lease_until <= now() as over, workspace, sandbox from runs where epoch > 10000 order by id desc limit 1',
  )
  expect(run).toEqual({ epoch: 10_003, over: true, workspace: null, sandbox: null })
  const [next] = await target.query(
    `select nextval(pg_get_serial_sequence('runs', 'id'))::int as id, (select max(event_seq)::int from organizations) as event_seq`,
  )
  expect(next?.id).toBeGreaterThan((old?.id ?? 0) + 9_000)
  expect(next?.event_seq).toBe((old?.event_seq ?? 0) + 10_000)
})

test('the service starts on it, old tokens are good, and a new run works', async () => {
  await using target = await emptyDatabase()
  await restore(target.url, file)
  await using again = await startApp({ DATABASE_URL: target.url })
  expect((await again.call('GET', '/v1/users/me')).status).toBe(200)
  const { id } = await createRun(again, { prompt: SAMPLE_PROMPT })
  expect(id).toBeGreaterThan(10_000)
  expect(await awaitEnd(again, id)).toMatchObject({ status: 'completed' })
})

test('a file that was truncated, changed, or is something else is refused, and the database stays as empty as it was', async () => {
  const whole = readFileSync(file)
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
    const path = join(folder.path, name)
    writeFileSync(path, bytes)
    await expect(restore(target.url, path), name).rejects.toThrow(words)
    const [found] = await target.query(
      `select count(*)::int as n from pg_tables where schemaname = 'public' and tablename = 'organizations'`,
    )
    if (found?.n === 1)
      expect({ name, left: await target.query('select 1 from organizations union all select 1 from runs') }).toEqual({ name, left: [] })
  }
  await restore(target.url, file)
  expect(await contentOf(target.url)).toEqual(await contentOf(app.database_url))
})

test('a database that is in use, and a backup of a newer version, are refused', async () => {
  await using used = await emptyDatabase()
  await restore(used.url, file)
  await expect(restore(used.url, file)).rejects.toThrow('the database is not empty')
  await using newer = await emptyDatabase()
  await migrate(newer.url)
  await newer.query(`insert into migrations (name, digest) values ('9999_next.sql', 'x')`)
  await backUp(newer.url, join(folder.path, 'newer'), '9.9.9')
  await using target = await emptyDatabase()
  await expect(restore(target.url, join(folder.path, 'newer'))).rejects.toThrow('taken by version 9.9.9, with migration 9999_next.sql')
  expect(await target.query(`select 1 from pg_tables where schemaname = 'public'`)).toEqual([])
})

test('a backup replaces no file, and one that fails leaves none', async () => {
  await expect(backUp(app.database_url, file, 'test')).rejects.toThrow('exists already')
  await expect(backUp('postgres://nobody@127.0.0.1:1/nothing', join(folder.path, 'never'), 'test')).rejects.toThrow('ECONNREFUSED')
  expect(() => statSync(join(folder.path, 'never'))).toThrow('ENOENT')
  expect(() => statSync(join(folder.path, 'never.part'))).toThrow('ENOENT')
})

test('a backup whose connection breaks is rejected, and leaves no file', async () => {
  await using source = await emptyDatabase()
  await migrate(source.url)
  const path = join(folder.path, 'broken')
  await source.query('begin')
  await source.query('lock table runs in access exclusive mode')
  const failed = expect(backUp(source.url, path, 'test')).rejects.toThrow()
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'agentrun-backup' and datname = current_database() and query like 'copy %' and wait_event_type = 'Lock'`
  // On a session of its own: a transaction sees one state of pg_stat_activity.
  await connected(source.url, client => vi.waitUntil(async () => (await client.query(terminate)).rowCount === 1, { timeout: 20_000 }))
  await failed
  expect(() => statSync(`${path}.part`)).toThrow('ENOENT')
})
