import { join } from 'node:path'
import pg from 'pg'
import { backUp } from '../../src/backup/backup.ts'
import { SAMPLE_PROMPT } from '../../src/core/repositories/sample.ts'
import { addTenant } from '../api/access/second-organization.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import { type App, startApp } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** `file`: the backup of the database of `app`, in `folder`. */
export type BackedUpApp = AsyncDisposable & { app: App; folder: string; file: string }

/**
 * A service with two organizations, the texts and bytes that COPY escapes, and a run with an owner; and its
 * backup.
 */
export async function startBackedUpApp(): Promise<BackedUpApp> {
  const folder = temporaryFolder()
  const app = await startApp()
  const { id } = await createRun(app, {
    prompt: SAMPLE_PROMPT,
    tags: ['a "b"', 'c,d\\e'],
    metadata: { tab: '\t', line: 'one\ntwo' },
  })
  await awaitEnd(app, id)
  const { run_id, org_id } = await addTenant(app)
  // Every byte there is.
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 256))
  const artifact = `insert into artifacts (organization_id, run_id, seq, content_type, content, total_bytes)
    values ($1, $2, 1, 'x', $3, 70000)`
  await app.db.query({ text: artifact, values: [org_id, run_id, bytes] })
  await app.db.query({
    text: `update runs set result = E'\\\\N \\t\\\\. \\r\\n ü😀\u2028' where id = $1`,
    values: [run_id],
  })
  const owned = `update runs
    set status = 'running', phase = 'agent', owner = 'them', epoch = 3, runnable_at = null,
      lease_until = now() + interval '9 minutes'
    where id = $1`
  await app.db.query({ text: owned, values: [run_id] })
  const file = join(folder.path, 'backup')
  await backUp(app.database_url, file, 'test')
  return {
    app,
    folder: folder.path,
    file,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** Opens a session of its own for `work`. */
export async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Every row of every table as text, but for what a restore settles. */
export async function contentOf(url: string): Promise<Record<string, string[]>> {
  return connected(url, async client => {
    const { rows: tables } = await client.query(
      `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
    )
    const settled: Record<string, string> = {
      runs: `(to_jsonb(t) - '{epoch,workspace,workspace_host,sandbox,lease_until}'::text[])::text`,
      organizations: `(to_jsonb(t) - 'event_seq')::text`,
      migrations: `(to_jsonb(t) - 'applied_at')::text`,
    }
    const content: Record<string, string[]> = {}
    for (const { name } of tables) {
      if (['rate_windows', 'workers', 'processes', 'ticks'].includes(name)) continue
      const { rows: lines } = await client.query({
        text: `select ${settled[name] ?? 't::text'} from ${name} t order by 1`,
        rowMode: 'array',
      })
      content[name] = lines.flat()
    }
    return content
  })
}
