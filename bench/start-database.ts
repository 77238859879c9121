import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../src/postgres/embedded.ts'
import { Database } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { ensureSystemUsers } from '../src/system/users.ts'

export type BenchDatabase = AsyncDisposable & {
  url: string
  pid: number
  /** Connections of its own, `max` at most, as a process of the service has them. */
  open(max: number): Database
}

/** The embedded PostgreSQL as a service has it, fsync on, migrated and empty, without a service. */
export async function startDatabase(): Promise<BenchDatabase> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-bench-database-')))
  chmodSync(folder, 0o711)
  const { database } = ensureSystemUsers()
  const postgres = await startEmbeddedPostgres({
    data_dir: join(folder, 'postgres'),
    user: database,
    log: () => {},
  })
  await migrate(postgres.url)
  const opened: Database[] = []
  return {
    url: postgres.url,
    pid: postgres.pid,
    open(max) {
      const db = new Database(postgres.url, { max, on_error: () => {}, statement_ms: 60_000 })
      opened.push(db)
      return db
    },
    async [Symbol.asyncDispose]() {
      for (const db of opened) await db[Symbol.asyncDispose]()
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** How many bytes the server has ever written to its write-ahead log. */
export async function walPosition(db: Database): Promise<number> {
  const { rows } = await db.query<{ at: string }>({
    text: `select pg_current_wal_lsn() - '0/0'::pg_lsn as at`,
  })
  return Number(rows[0]?.at)
}
