import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { ensureSystemUsers } from '../../src/system/users.ts'

// A process for tests to kill: it owns a PostgreSQL on the folder named by its argument, reports that in one
// line of JSON, and stays.
const [, , data_dir = ''] = process.argv
const postgres = await startEmbeddedPostgres({ data_dir, user: ensureSystemUsers().database, log: () => {} })
process.stdout.write(`${JSON.stringify({ url: postgres.url, pid: postgres.pid })}\n`)
// The server is a child: the process waits for its end.
await new Promise(() => {})
