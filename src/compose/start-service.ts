import { errorText } from '../core/log.ts'
import { pause } from '../core/pause.ts'
import { startPolling } from '../core/polling.ts'
import { repositoryCredentials } from '../core/secrets/repository-credentials.ts'
import { openSecrets } from '../core/secrets/run-secrets.ts'
import { createSealer } from '../core/secrets/sealing.ts'
import { openGitHost } from '../git/process/git-host.ts'
import { Hub } from '../live/hub.ts'
import { Listener } from '../live/listener.ts'
import { listSealedSecrets } from '../store/access/secrets.ts'
import { Database } from '../store/database.ts'
import { recordCrash } from '../store/leases/stalls.ts'
import { runAs } from '../worker/claim/current-work.ts'
import { LEASE_CONNECTIONS } from '../worker/claim/lease-messages.ts'
import { newOwner } from '../worker/claim/owner.ts'
import { SWEEP_MS, sweepInTurn } from '../worker/sweep/recover-lost-runs.ts'
import type { Worker } from '../worker/worker.ts'
import type { RunningApi } from './api.ts'
import { forgeCredentials, forgesOf } from './forges.ts'
import { modelsOf } from './models.ts'
import { neighbourBlocked } from './neighbour-worker.ts'
import type { Parts, ServiceInput } from './parts.ts'
import { startProcessReports } from './process-report.ts'
import { serveMetrics, startTelemetry } from './telemetry.ts'
import { startWebhooks } from './webhooks.ts'

export type RunningService = AsyncDisposable & {
  /** Null in a process that only works on runs. */
  api: RunningApi | null
  /** Why this process starts no run; null when it does, or when that is not what it is for. */
  blocked(): string | null
  /**
   * Why the worker beside this process, on the same data folder, starts no run; null when it does, or when it
   * is to work on none. Waits at most `max_ms` for its first report.
   */
  neighbourBlocked(max_ms: number): Promise<string | null>
  /**
   * Begins the shutdown: no further run is claimed and active runs go to another worker as soon as they can,
   * `/readyz` is 503, and the API continues to respond for as long as the operator's proxy needs to notice.
   * Disposing comes after it, or without it.
   */
  drain(): Promise<void>
  /**
   * Logs and counts an error of a request or of a background task that nothing caught
   * (decisions.md#uncaught-errors-are-survived).
   */
  uncaught(error: unknown, event: 'uncaughtException' | 'unhandledRejection'): void
}

const CONNECTIONS = 20
const WORKER_CONNECTIONS = 10
/**
 * A worker that is frozen in the middle of a transaction holds its run no longer than this: a stop still gets
 * its response within 2 s.
 */
const WORKER_IDLE_MS = 1_000

/** Code that the role of a process does not need is not loaded: it would take 20 MiB. */
const loadApi = async (parts: Parts) => (await import('./api.ts')).startApi(parts)
const loadWorker = async (parts: Parts, baseUrl: () => string) =>
  (await import('./worker.ts')).createWorker(parts, baseUrl)

type State = 'starting' | 'ready' | 'stopping'

/** Where all workers are dead, runs that must stop or whose time is over still end. */
function sweepAlone({ db, log, config, telemetry }: Parts): Disposable {
  const deps = {
    db,
    log,
    telemetry,
    max_losses: config.AGENTRUN_RUN_MAX_RECOVERIES,
    queue_seconds: config.AGENTRUN_QUEUE_MAX_SECONDS,
    driver: null,
    folder_id: null,
    owner: null,
  }
  return startPolling(SWEEP_MS, 'sweep', () => sweepInTurn(deps), log)
}

/**
 * Puts one process of the service together, as its role requires, and starts it. Disposing it stops
 * everything in order.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: starts the parts of a process one after the other, and the order is the content
export async function startService(input: ServiceInput): Promise<RunningService> {
  const { config, data, users, log, role } = input
  await using stack = new AsyncDisposableStack()
  // First in, last out: what happens at the end is counted and traced too.
  const { telemetry, instruments } = stack.use(await startTelemetry(input))
  const openDatabase = (max: number, idle_ms?: number) =>
    stack.use(
      new Database(input.database_url, {
        max,
        idle_ms,
        on_error: error => log('error', 'an idle database connection broke', { error: errorText(error) }),
        on_wait: telemetry.databaseWaited,
      }),
    )
  const db =
    role === 'work'
      ? openDatabase(CONNECTIONS - LEASE_CONNECTIONS, WORKER_IDLE_MS)
      : openDatabase(CONNECTIONS)
  let [state, worker, api]: [State, Worker | null, RunningApi | null] = ['starting', null, null]
  const unready = () => (state === 'ready' ? (role === 'work' ? (worker?.blocked ?? null) : null) : state)
  stack.use(await serveMetrics(input, { db, instruments, streams: () => api?.streams() ?? 0, unready }))
  const sealer = createSealer(input.secret_key, config.AGENTRUN_SECRET_KEY_PREVIOUS)
  const forges = forgesOf({ config, db, sealer, version: input.version })
  const git = stack.use(
    await openGitHost({
      data_dir: data.root,
      user: users.service,
      caches: role === 'serve' ? 'of_api' : 'of_worker',
      ...(users.sandbox && { reader_gid: users.sandbox.gid }),
      ...(input.git_path && { path: input.git_path }),
      allow_private: config.AGENTRUN_ALLOW_PRIVATE_GIT,
      max_mirror_bytes: config.AGENTRUN_MIRROR_MAX_BYTES,
      max_push_bytes: config.AGENTRUN_PUSH_MAX_BYTES,
      memory_bytes: config.AGENTRUN_GIT_MEMORY_BYTES,
      max_paths: config.AGENTRUN_GIT_MAX_PATHS,
      async credentials(repo) {
        if (repo.organization_id === undefined) return null
        const rows = await listSealedSecrets(db, repo.organization_id, repo.id)
        const own = repositoryCredentials(openSecrets(sealer, repo.organization_id, rows).secrets)
        return own ?? (await forgeCredentials(forges, repo))
      },
    }),
  )
  const hub = new Hub()
  const author = {
    name: config.AGENTRUN_COMMIT_AUTHOR_NAME,
    email: config.AGENTRUN_COMMIT_AUTHOR_EMAIL,
    trailer: config.AGENTRUN_COMMIT_TRAILER,
  }
  const owner = newOwner()
  const parts: Parts = {
    ...input,
    owner,
    db,
    git,
    hub,
    models: modelsOf(config),
    author,
    telemetry,
    sealer,
    forges,
  }
  const listener = stack.use(new Listener(input.database_url, hub, role === 'serve' ? null : owner))
  await listener.start()

  let base_url = config.AGENTRUN_BASE_URL ?? `http://${config.AGENTRUN_HOST}:${config.AGENTRUN_PORT}`
  // A crowd of requests that holds all of one pool must not cost the runs of the same process their leases.
  const worker_parts =
    role === 'all' ? { ...parts, db: openDatabase(WORKER_CONNECTIONS, WORKER_IDLE_MS) } : parts
  const baseUrl = () =>
    (role === 'work' && config.AGENTRUN_BASE_URL === undefined ? input.apiAddress?.() : null) ?? base_url
  worker = role === 'serve' ? null : stack.use(await loadWorker(worker_parts, baseUrl))
  if (worker !== null && input.crashed_pid) await recordCrash(db, input.data.id, input.crashed_pid)
  // Before the API responds, because its health reports whether a worker exists.
  await worker?.register()
  api = role === 'work' ? null : stack.use(await runAs('no run', () => loadApi(parts)))
  if (api) base_url = api.base_url
  await worker?.start()
  if (worker === null) stack.use(sweepAlone(parts))
  stack.use(runAs('no run', () => startWebhooks(parts, baseUrl)))
  stack.use(await startProcessReports(parts))

  const running = stack.move()
  state = 'ready'
  return {
    api,
    blocked: () => worker?.blocked ?? null,
    neighbourBlocked: max_ms => neighbourBlocked(parts, max_ms),
    uncaught(error, event) {
      telemetry.errorUncaught(event)
      log('error', 'an error was not caught; the service continues', { event, error: errorText(error) })
    },
    async drain() {
      if (state === 'stopping') return
      state = 'stopping'
      log('info', 'stopping')
      worker?.drain()
      api?.drain()
      if (api) await pause(config.AGENTRUN_DRAIN_SECONDS * 1000)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
