import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbeddedPostgres } from '../src/postgres/embedded.ts'
import { migrate } from '../src/store/migrate.ts'
import { ensureSystemUsers } from '../src/system/users.ts'
import { dumpSchema, SCHEMA_FILE, TYPES_FILE, tableTypes } from './schema-dump.ts'

const folder = mkdtempSync(join(tmpdir(), 'agentrun-schema-'))
chmodSync(folder, 0o711)
try {
  const { database } = ensureSystemUsers()
  await using postgres = await startEmbeddedPostgres({
    data_dir: join(folder, 'postgres'),
    user: database,
    log: () => {},
    durable: false,
  })
  await migrate(postgres.url)
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const schema = await dumpSchema(client)
  writeFileSync(SCHEMA_FILE, schema)
  writeFileSync(TYPES_FILE, tableTypes(schema))
  await client.end()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
