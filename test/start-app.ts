import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { onTestFailed, TestRunner } from 'vitest'
import { startService } from '../src/compose/start-service.ts'
import { readConfig } from '../src/config.ts'
import { Database } from '../src/store/database.ts'
import { prepareDataFolder } from '../src/system/data-folder.ts'
import { sandboxNode } from '../src/system/sandbox-node.ts'
import { ownSecretKey } from '../src/system/secret-key.ts'
import { ensureSystemUsers } from '../src/system/users.ts'
import { createTestDatabase } from './database.ts'
import { no_reviews } from './runs/recovery/service-process.ts'
import { testedOnce } from './tested-once.ts'

export const TOKEN = 'test-token-of-the-first-admin-0123456789'

/** Tests send more requests than a client may; those of the limits set their own. */
const no_limits = Object.fromEntries(
  [
    'STANDARD',
    'AGENT_CREATION',
    'SETUP_COMMANDS',
    'LOG_ANALYSIS',
    'TOOL_EXECUTION',
    'RECORDING',
    'TOKEN_TOTAL',
    'SESSION',
    'FAILED_TOKENS',
  ].map(name => [`AGENTRUN_LIMIT_${name}`, 'off']),
)

export type App = AsyncDisposable & {
  base_url: string
  token: string
  org_id: number
  repo_id: number
  user_id: number
  database_url: string
  db: Database
  data_dir: string
  /** What the service logged. */
  logs: { level: string; message: string; fields: Record<string, unknown> | undefined }[]
  signInLink(): Promise<string>
  /** A request with the admin's token; `body` is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>
}

/** `body` is what JSON the response held, or its text. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses of many shapes
export type ApiResponse = { status: number; headers: Headers; body: any }

/**
 * The whole service on a database and a data folder of its own, as one start would make it. `env` as an
 * operator would set it: with another app's DATABASE_URL it is a second process beside that one.
 */
export async function startApp(
  env: Record<string, string> = {},
  { role = 'all', ...input }: { role?: 'all' | 'serve'; git_path?: string } = {},
): Promise<App> {
  // A failed start closes all parts that were started.
  await using stack = new AsyncDisposableStack()
  const database = env.DATABASE_URL ? { url: env.DATABASE_URL } : stack.use(await createTestDatabase())
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const users = ensureSystemUsers()
  const data = prepareDataFolder({
    path: env.AGENTRUN_DATA_DIR ?? join(folder, 'data'),
    clone_dir: folder,
    users,
  })
  // Tests stop in the middle of things: what a worker does with its grace has tests of its own.
  const at_once = { AGENTRUN_SHUTDOWN_GRACE_SECONDS: '0' }
  const config = readConfig({
    AGENTRUN_PORT: '0',
    AGENTRUN_INIT_TOKEN: TOKEN,
    ...no_limits,
    ...at_once,
    ...no_reviews,
    ...env,
  })
  const logs: App['logs'] = []
  // The cause of a failure is often in the log alone.
  if (TestRunner.getCurrentTest())
    onTestFailed(() => console.error(...logs.filter(({ level }) => level === 'error').slice(0, 10)))
  const service = stack.use(
    await startService({
      role,
      ...input,
      config,
      secret_key: config.AGENTRUN_SECRET_KEY ?? ownSecretKey(data.root),
      database_url: database.url,
      data,
      users,
      path: process.env.PATH ?? '',
      node_path: sandboxNode(data.root, users.sandbox),
      web: fileURLToPath(new URL('../web/dist', import.meta.url)),
      version: 'test',
      log: (level, message, fields) => logs.push({ level, message, fields }),
      createDriver: testedOnce,
    }),
  )
  const { api } = service
  if (api === null) throw new Error('it serves no API')
  const db = stack.use(new Database(database.url, { max: 3, on_error: () => {} }))
  const running = stack.move()
  return {
    base_url: api.base_url,
    token: TOKEN,
    org_id: api.started.organization_id,
    repo_id: api.started.repository?.id ?? 0,
    user_id: api.started.user_id,
    database_url: database.url,
    db,
    data_dir: data.root,
    logs,
    signInLink: () => api.signInLink(),
    async call(method, path, body, headers = {}) {
      const response = await fetch(api.base_url + path, {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      // Whatever a test expects: the cause of an internal error is in the log alone.
      if (response.status === 500)
        console.error(method, path, ...logs.filter(({ level }) => level === 'error').slice(-3))
      return { status: response.status, headers: response.headers, body: parsed(text) }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Rows of a statement, for what the API does not show. */
export async function rows<R extends pg.QueryResultRow>(
  app: App,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  return (await app.db.query<R>({ text, values })).rows
}
