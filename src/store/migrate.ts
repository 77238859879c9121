import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

const folder = new URL('./migrations/', import.meta.url)
// Any number: what matters is that every process that migrates this database asks for the same lock.
const LOCK = 4_600_001

/** Rejects with one line when the schema is not the one of this version. Changes nothing. */
export async function requireMigrated(connection_string: string): Promise<void> {
  const client = new pg.Client({ connectionString: connection_string, application_name: 'agentrun-admin', connectionTimeoutMillis: 10_000 })
  await client.connect().catch((error: Error & { code?: string }) => {
    throw new Error(`the database cannot be reached: ${error.message || error.code}`, { cause: error })
  })
  try {
    const { rows: tables } = await client.query(`select 1 from pg_tables where schemaname = 'public' and tablename = 'migrations'`)
    if (tables.length === 0) throw new Error('the database is empty: start the service once')
    const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
    const files = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort()
    if (rows.map(row => row.name).join() !== files.join())
      throw new Error('the database is of another version than this command: start the service of this version once')
  } finally {
    await client.end()
  }
}

/**
 * Brings the database to the newest schema, forward only. Safe when several processes start at once: the first one
 * migrates, the others wait for it. Rejects when the database was written by a newer version, or a migration was altered.
 */
export async function migrate(connection_string: string): Promise<void> {
  const client = new pg.Client({ connectionString: connection_string, application_name: 'agentrun-migrate' })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await client.query(
      'create table if not exists migrations (name text primary key, digest text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string; digest: string }>('select name, digest from migrations')
    const applied = new Map(rows.map(row => [row.name, row.digest]))
    const files = (await readdir(folder)).filter(name => name.endsWith('.sql')).sort()
    for (const name of applied.keys())
      if (!files.includes(name))
        throw new Error(`the database holds migration ${name}, which this version does not know: start a newer version`)
    for (const name of files) {
      const sql = await readFile(new URL(name, folder), 'utf8')
      const digest = createHash('sha256').update(sql).digest('hex')
      const known = applied.get(name)
      if (known === digest) continue
      if (known !== undefined) throw new Error(`migration ${name} was changed after it had been applied`)
      await client.query('begin')
      await client.query(sql)
      await client.query('insert into migrations (name, digest) values ($1, $2)', [name, digest])
      await client.query('commit')
    }
  } finally {
    await client.end()
  }
}
