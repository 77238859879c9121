import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Database } from '../../src/store/database.ts'
import { programEnv } from '../agents/program-app.ts'
import { with_client } from '../api/contract/every-endpoint.ts'
import { createTestDatabase } from '../database.ts'
import { startFakeOpenAI } from '../model/fake-openai.ts'
import type { FakeScript } from '../model/fake-server.ts'
import { makeRepository, pricedProvider } from '../runs/coding-app.ts'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'

/** Bytes, numbers of open things, and ms of processor time between two turns of the event loop. */
export type Measurement = {
  pid: number
  rss: number
  heap: number
  external: number
  descriptors: number
  /** One for the main thread, and one for each other that runs JavaScript. */
  event_loops: number
  descriptors_of_loops: number
  connections: number
  longest_stall_ms: number
}
type LogLine = { level: string; message: string; [field: string]: unknown }

export type WatchedService = AsyncDisposable & {
  base_url: string
  token: string
  db: Database
  /** Null while the process runs. */
  exitCode(): number | null
  measure(): Promise<Measurement>
  /** What it has logged until now at this level. */
  logged(level: string): LogLine[]
  stop(): Promise<{ code: number | null; signal: string | null }>
}

const program = fileURLToPath(new URL('watched-main.ts', import.meta.url))

/**
 * The service with a worker as a process of its own, which is watched from inside (watched-main.ts) and
 * outside.
 */
export async function startWatchedService(
  script: FakeScript,
  env: Record<string, string>,
): Promise<WatchedService> {
  await using stack = new AsyncDisposableStack()
  const database = stack.use(await createTestDatabase())
  const model = stack.use(await startFakeOpenAI(script))
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-hostile-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const [log_file, probe] = [join(folder, 'log'), join(folder, 'probe')]
  const settings = {
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: join(folder, 'data'),
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_INIT_REPO_URL: makeRepository(),
    AGENTRUN_ALLOW_PRIVATE_GIT: '1',
    AGENTRUN_SHUTDOWN_GRACE_SECONDS: '0',
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    HOSTILE_PROBE: probe,
  }
  const all = { ...settings, ...with_client, ...pricedProvider(model), ...programEnv(), ...env }
  const service = await startServiceProcess(all, 'all', log_file, program)
  stack.defer(async () => {
    service.child.kill('SIGKILL')
    await service.ended
  })
  const linesOfLog = () => readFileSync(log_file, 'utf8').trimEnd().split('\n')
  if (service.base_url === '')
    throw new Error(`the service did not start: ${linesOfLog().slice(-5).join('\n')}`)
  const db = stack.use(new Database(database.url, { max: 2, on_error: () => {} }))
  const connections = async () => {
    const statement = `select count(*)::int as n
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
    return (await db.query<{ n: number }>({ text: statement, values: [] })).rows[0]?.n ?? 0
  }
  const running = stack.move()
  return {
    base_url: service.base_url,
    token: TOKEN,
    db,
    exitCode: () => service.child.exitCode,
    measure: async () => ({ ...JSON.parse(await text(connect(probe))), connections: await connections() }),
    logged: level =>
      linesOfLog().flatMap(line =>
        line.includes(`"level":"${level}"`) ? [JSON.parse(line) as LogLine] : [],
      ),
    async stop() {
      service.child.kill('SIGTERM')
      const { code, signal } = await service.ended
      return { code, signal }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
