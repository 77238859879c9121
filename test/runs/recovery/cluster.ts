import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { RunRecovery } from '../../../src/contract/runs/recovery.ts'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { Database } from '../../../src/store/database.ts'
import { createTestDatabase } from '../../database.ts'
import { startFakeOpenAI } from '../../model/fake-openai.ts'
import type { FakeScript, FakeServer } from '../../model/fake-server.ts'
import { startApp, TOKEN } from '../../start-app.ts'
import { makeRepository, pricedProvider } from '../coding-app.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

export type ClusterNode = ServiceProcess & { data_dir: string; role: 'serve' | 'work' }

/**
 * Several processes of the service on one database, each with a data folder of its own, as on several
 * machines.
 */
export type Cluster = AsyncDisposable & {
  db: Database
  model: FakeServer
  repository: string
  /** Of the API that is there from the start. */
  base_url: string
  /**
   * Starts one more; `data_dir` is that of an earlier process, or a new folder. `own`: settings of this
   * process alone. `program`: that of another version.
   */
  start(
    role: 'serve' | 'work',
    data_dir?: string,
    own?: Record<string, string>,
    program?: string,
  ): Promise<ClusterNode>
  /** A request to the API that was started last. `body` is parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: responses are read without types
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>
  createRun(body: Record<string, unknown>): Promise<AgentRun>
  getRun(id: number): Promise<AgentRun>
  /** Polls until the run is as expected: other processes change it, so there is nothing else to wait for. */
  until(id: number, fits: (run: AgentRun) => boolean, timeout_ms?: number): Promise<AgentRun>
  rows<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>
}
/** `api`: the API process that is there from the start. */
export type ApiCluster = Cluster & { api: ClusterNode }

const limits = [
  'STANDARD',
  'AGENT_CREATION',
  'SETUP_COMMANDS',
  'LOG_ANALYSIS',
  'TOKEN_TOTAL',
  'SESSION',
  'FAILED_TOKENS',
]

/**
 * A database (that of `env`, or one of its own), a model server that plays `script`, a repository, and an
 * API, which runs in this process: one of its own takes a second of processor time to start. Each test starts
 * the workers that it needs.
 */
export async function startCluster(script: FakeScript, env: Record<string, string> = {}): Promise<Cluster> {
  await using stack = new AsyncDisposableStack()
  const { cluster, shared, serveAt } = await openCluster(script, env, stack)
  const { base_url } = stack.use(await startApp(shared, { role: 'serve' }))
  serveAt(base_url)
  const running = stack.move()
  return { ...cluster, base_url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** The same with an API process (of the version of `program`), for tests that look at it or end it. */
export async function startApiCluster(
  script: FakeScript,
  env: Record<string, string> = {},
  program?: string,
): Promise<ApiCluster> {
  await using stack = new AsyncDisposableStack()
  const { cluster } = await openCluster(script, env, stack)
  const api = await cluster.start('serve', undefined, {}, program)
  const running = stack.move()
  return { ...cluster, api, base_url: api.base_url, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

/** All of a cluster but its API. `shared`: the settings of each process. `serveAt`: where its API is. */
async function openCluster(script: FakeScript, env: Record<string, string>, stack: AsyncDisposableStack) {
  const database = env.DATABASE_URL ? { url: env.DATABASE_URL } : stack.use(await createTestDatabase())
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-cluster-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const repository = makeRepository()
  const model = stack.use(await startFakeOpenAI(script))
  const shared = {
    ...Object.fromEntries(limits.map(name => [`AGENTRUN_LIMIT_${name}`, 'off'])),
    DATABASE_URL: database.url,
    AGENTRUN_INIT_TOKEN: TOKEN,
    AGENTRUN_INIT_REPO_URL: repository,
    AGENTRUN_SECRET_KEY: '0'.repeat(64),
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    ...pricedProvider(model),
    ...env,
  }
  const nodes: ClusterNode[] = []
  stack.defer(async () => {
    for (const { child } of nodes) child.kill('SIGKILL')
    await Promise.all(nodes.map(node => node.ended))
  })
  let folders = 0
  let base_url = ''
  const start: Cluster['start'] = async (
    role,
    data_dir = join(folder, `node-${++folders}`),
    own = {},
    of = undefined,
  ) => {
    const started = await startServiceProcess(
      { ...shared, ...own, AGENTRUN_DATA_DIR: data_dir },
      role,
      null,
      of,
    )
    const node = { ...started, data_dir, role }
    nodes.push(node)
    if (started.child.exitCode !== null)
      throw new Error(`a process did not start: ${(await started.ended).output}`)
    if (role === 'serve') base_url = started.base_url
    return node
  }
  const call: Cluster['call'] = async (method, path, body) => {
    const response = await fetch(`${base_url}/v1/organizations/1/agent${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  const getRun = async (id: number) => (await call('GET', `/run/${id}`)).body as AgentRun
  const db = stack.use(new Database(database.url, { max: 3, on_error: () => {} }))
  const cluster: Omit<Cluster, 'base_url' | typeof Symbol.asyncDispose> = {
    db,
    model,
    repository,
    start,
    call,
    getRun,
    createRun: async body => (await call('POST', '/run', body)).body,
    async until(id, fits, timeout_ms = 60_000) {
      for (const end = Date.now() + timeout_ms; Date.now() < end; ) {
        const run = await getRun(id)
        if (fits(run)) return run
        await new Promise(resolve => setTimeout(resolve, 30))
      }
      throw new Error(`run ${id} did not become as expected: ${JSON.stringify(await getRun(id))}`)
    },
    rows: async <R extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      (await db.query<R>({ text, values })).rows,
  }
  return {
    cluster,
    shared,
    serveAt: (address: string) => {
      base_url = address
    },
  }
}

/** Returns the recovery report of a run, which has no unknown field. */
export const recoveryOf = async (cluster: Cluster, id: number) =>
  RunRecovery.strict().parse((await cluster.call('GET', `/run/${id}/recovery`)).body)
/** Returns each step of a run with its state. */
export const stateOf = async (cluster: Cluster, id: number) =>
  (await recoveryOf(cluster, id)).steps.items.map(step => `${step.tool_name ?? 'model'} ${step.state}`)
/** Returns the trace of a run. */
export const logsOf = async (cluster: Cluster, id: number) =>
  (await cluster.call('GET', `/run/${id}/logs`)).body.logs
