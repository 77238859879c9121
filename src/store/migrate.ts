import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'
import { isDatabaseAway } from '../core/database-away.ts'
import { errorText } from '../core/log.ts'
import { pause } from '../core/pause.ts'

const own_folder = new URL('./migrations/', import.meta.url)
// Any numbers: every process that migrates this database must use the same locks. Versions before 0.1.0 wait
// for the second one in a statement, which would block the concurrent build of an index: it is released
// meanwhile.
const LOCK = 4_600_002
const SCHEMA_LOCK = 4_600_001
/** A migration that waits for a table blocks all later statements on it: it gives up and retries. */
const LOCK_TIMEOUT_MS = 2_000
const LOCK_TRIES = 60
/** A server that accepts the connection but stays silent counts as unavailable. */
const CONNECTION_TIMEOUT_MS = 5_000
const RETRY_DELAY_MS = 500
const LOCK_POLL_INTERVAL_MS = 50

/**
 * Migrations whose text was replaced by one that leads to the same schema, with the digest that databases and
 * older versions know: the former text of 0002 built its indexes in one transaction, which 0005 does without.
 */
const digests_of_replaced: Record<string, string> = {
  '0002_lists_at_any_size.sql': '0b45d009ebcfbedfc2e4fcaf3a56cfd2cd4c4c61d18aaf2002a259c725f4078c',
}
/**
 * The first line of a migration whose statements run alone. A blank line ends a statement, and each may be
 * repeated.
 */
const ALONE = '-- without a transaction\n'

type File = { name: string; sql: string; digest: string; needs: string | null }
type AppliedMigration = { name: string; digest: string; needs: string | null }

/**
 * Returns the migration that code must know to run on the schema, from the first line. Null: an expansion,
 * older code runs on it. `-- contract`: only code that knows this migration runs. `-- contract after
 * 0012_x.sql`: only code that knows that one.
 */
export function needsOf(name: string, sql: string): string | null {
  const marked = /^-- contract(?: after (\S+\.sql))?[ \t]*(?:\n|$)/.exec(sql)
  return marked === null ? null : (marked[1] ?? name)
}

/** Returns the migrations of this version, in order. */
export async function listMigrations(): Promise<{ name: string; digest: string }[]> {
  return readFiles(own_folder)
}

/** Rejects with one line when this version cannot run on the existing schema. Changes nothing. */
export async function requireMigrated(connection_string: string, folder = own_folder): Promise<void> {
  const client = new pg.Client({
    connectionString: connection_string,
    application_name: 'agentrun-admin',
    connectionTimeoutMillis: 10_000,
  })
  // A connection that breaks rejects its statements; without a listener it would also end the process.
  client.on('error', () => {})
  await client.connect().catch((error: Error & { code?: string }) => {
    throw new Error(`the database cannot be reached: ${error.message || error.code}`, { cause: error })
  })
  try {
    const { rows: columns } = await client.query(
      `select 1
        from information_schema.columns
        where table_schema = 'public' and table_name = 'migrations' and column_name = 'needs'`,
    )
    if (columns.length === 0)
      throw new Error('the database is empty or has an older schema: start this version of the service once')
    const files = await readFiles(folder)
    const applied = await listApplied(client)
    requireKnownEnough(applied, files)
    if (files.some(file => !applied.some(row => row.name === file.name)))
      throw new Error(
        'the schema of the database is older than this command: start this version of the service once',
      )
  } finally {
    await client.end()
  }
}

/** `only`: selects the migrations to apply, for an older schema. */
type MigrateOptions = { folder?: URL; only?: (name: string) => boolean }

/**
 * Migrates the database to the newest schema, forward only. Safe when several processes start at once (the
 * first one migrates, the others wait for it), and while processes of an older version run. Rejects when a
 * migration was altered, or when the database has a newer migration that this version cannot run on
 * (`needsOf`).
 */
export async function migrate(
  connection_string: string,
  { folder = own_folder, only = () => true }: MigrateOptions = {},
): Promise<void> {
  const client = new pg.Client({
    connectionString: connection_string,
    application_name: 'agentrun-migrate',
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
  })
  // A connection that breaks rejects its statements; without a listener it would also end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await lock(client, LOCK)
    await lock(client, SCHEMA_LOCK)
    await client.query(`create table if not exists migrations (
      name text primary key, digest text not null, applied_at timestamptz not null default now())`)
    await client.query('alter table migrations add column if not exists needs text')
    const files = await readFiles(folder)
    const applied = await listApplied(client)
    requireBaseline(applied, files)
    requireKnownEnough(applied, files)
    for (const file of files.filter(({ name }) => only(name))) {
      const known = applied.find(row => row.name === file.name)
      if (known === undefined && file.sql.startsWith(ALONE)) {
        await client.query('select pg_advisory_unlock($1)', [SCHEMA_LOCK])
        await applyAlone(client, file)
        await lock(client, SCHEMA_LOCK)
      } else if (known === undefined) await apply(client, file)
      else if (known.digest !== file.digest)
        throw new Error(`migration ${file.name} was changed after it had been applied`)
    }
  } finally {
    await client.end()
  }
}

/**
 * Runs `migrate`, and waits at most `wait_ms` while the database is unavailable, for example while it starts
 * too. `onWait` receives the reason, once. Rejects with one line that states what to check.
 */
export async function migrateWhenThere(
  connection_string: string,
  wait_ms: number,
  onWait: (reason: string) => void,
): Promise<void> {
  const started = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return await migrate(connection_string)
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() - started > wait_ms) throw withAction(error)
      if (tries === 1) onWait(errorText(error))
      await pause(RETRY_DELAY_MS)
    }
  }
}

/**
 * Adds what to check to the error of a database that is unavailable, or that does not admit us: no such user,
 * password or database.
 */
function withAction(error: unknown): unknown {
  const { message, code = '' } = error as Error & { code?: string }
  if (!isDatabaseAway(error) && !/^(28|3D)/.test(code)) return error
  return new Error(
    `the database cannot be used (${message || code}): check DATABASE_URL and the server that it names`,
    { cause: error },
  )
}

/**
 * Polls: a statement that waits for the lock would block the concurrent build of an index, and so the process
 * that has the lock.
 */
async function lock(client: pg.Client, number: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      number,
    ])
    if (rows[0]?.locked) return
    await pause(LOCK_POLL_INTERVAL_MS)
  }
}

async function apply(client: pg.Client, { name, sql, digest, needs }: File): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query('begin')
      await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`)
      await client.query(sql)
      await client.query('insert into migrations (name, digest, needs) values ($1, $2, $3)', [
        name,
        digest,
        needs,
      ])
      await client.query('commit')
      return
    } catch (error) {
      await client.query('rollback').catch(() => {})
      if ((error as { code?: string }).code !== '55P03' || tries === LOCK_TRIES) throw error
      await pause(RETRY_DELAY_MS)
    }
  }
}

/**
 * Runs each statement in a transaction of its own: a process that ends in between leaves what the next one
 * repeats.
 */
async function applyAlone(client: pg.Client, { name, sql, digest, needs }: File): Promise<void> {
  for (const statement of sql.split(/\n[^\S\n]*\n/)) {
    const index = /\bcreate index concurrently if not exists (\w+)/.exec(statement)?.[1]
    if (index !== undefined) await dropUnfinished(client, index)
    await client.query(statement)
  }
  await client.query('insert into migrations (name, digest, needs) values ($1, $2, $3)', [
    name,
    digest,
    needs,
  ])
}

/** An interrupted concurrent build leaves an index that is written and never read. */
async function dropUnfinished(client: pg.Client, name: string): Promise<void> {
  const { rowCount } = await client.query(
    `select 1
      from pg_index i
      join pg_class c on c.oid = i.indexrelid
      where c.relname = $1 and c.relnamespace = 'public'::regnamespace and not i.indisvalid`,
    [name],
  )
  if (rowCount) await client.query(`drop index concurrently if exists ${name}`)
}

/**
 * Throws for a database of a development version from before the baseline, whose migrations no longer exist.
 */
function requireBaseline(applied: AppliedMigration[], [baseline]: File[]) {
  if (applied.length > 0 && !applied.some(({ name }) => name === baseline?.name))
    throw new Error(
      'the database was created by a development version from before 0.1.0: start this version with a new database',
    )
}

/** Throws when the database has a migration that this version does not know and cannot run on. */
function requireKnownEnough(applied: AppliedMigration[], files: File[]) {
  const knows = (name: string) => files.some(file => file.name === name)
  const beyond = applied.find(row => !knows(row.name) && row.needs !== null && !knows(row.needs))
  if (beyond)
    throw new Error(
      `the database contains migration ${beyond.name}, which this version cannot run on: start a newer version`,
    )
}

async function readFiles(folder: URL): Promise<File[]> {
  const names = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async name => {
      const sql = await readFile(new URL(name, folder), 'utf8')
      const digest = digests_of_replaced[name] ?? createHash('sha256').update(sql).digest('hex')
      return { name, sql, digest, needs: needsOf(name, sql) }
    }),
  )
}

async function listApplied(client: pg.Client): Promise<AppliedMigration[]> {
  return (await client.query<AppliedMigration>('select name, digest, needs from migrations order by name'))
    .rows
}
