import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config } from './config.ts'
import { SAMPLE_FILES } from './core/sample.ts'
import { createSealer } from './core/sealing.ts'
import { ServiceError } from './core/service-error.ts'
import { resolveBase } from './git/base-resolver.ts'
import { openGitHost } from './git/git-host.ts'
import { localForge } from './git/local-forge.ts'
import { createRepository } from './git/new-repository.ts'
import { readRepositoryUrl } from './git/registered-url.ts'
import { parseRepositoryUrl } from './git/repository-url.ts'
import { createApp } from './http/app.ts'
import { hostName } from './http/security-headers.ts'
import { Feeds } from './live/feeds.ts'
import { Hub } from './live/hub.ts'
import { Listener } from './live/listener.ts'
import { createModelCatalog } from './model/catalog.ts'
import type { ModelCatalog } from './model/port.ts'
import { createBubblewrapDriver } from './sandbox/bubblewrap.ts'
import { accessFinder } from './service/authenticate.ts'
import type { Services } from './service/context.ts'
import { firstStart, type Started } from './service/first-start.ts'
import { createLimiter } from './service/limits.ts'
import { createLogPages } from './service/log-pages.ts'
import { runHeadFinder } from './service/run-logs.ts'
import { newSignInLink } from './service/sessions.ts'
import { Database } from './store/database.ts'
import { countSealedOtherwise } from './store/secrets.ts'
import type { DataFolder } from './system/data-folder.ts'
import type { ServiceUsers } from './system/users.ts'
import { Worker } from './worker/worker.ts'

const CLOSE_MS = 500
const LOG_PAGES_BYTES = 64 * 1024 * 1024

export type Log = (level: 'info' | 'error', message: string, fields?: Record<string, unknown>) => void

export type ServiceInput = {
  config: Config
  database_url: string
  data: DataFolder
  /** 32 bytes for stored secrets. */
  secret_key: Buffer
  users: ServiceUsers
  /** PATH of the environment. */
  path: string
  /** Absolute path of the Node that sandboxes are shown. */
  node_path: string
  /** Folder of the built web interface. */
  web: string
  version: string
  log: Log
}

export type RunningService = AsyncDisposable & {
  base_url: string
  started: Started
  /** Where the operator's local repository should be, when nothing is there. */
  missing_repository: string | null
  workers_blocked(): string | null
  signInLink(): Promise<string>
}

/** Puts the service together and starts it: API, live streams and worker in one process. Disposing it stops everything in order. */
export async function startService(input: ServiceInput): Promise<RunningService> {
  const { config, data, users, log } = input
  await using stack = new AsyncDisposableStack()
  const db = stack.use(
    new Database(input.database_url, {
      max: 20,
      on_error: error => log('error', 'an idle database connection broke', { error: error.message }),
    }),
  )
  const git = stack.use(
    await openGitHost({
      data_dir: data.root,
      user: users.service,
      ...(users.sandbox && { reader_gid: users.sandbox.gid }),
      allow_private: config.AGENTRUN_ALLOW_PRIVATE_GIT,
      max_mirror_bytes: config.AGENTRUN_MIRROR_MAX_BYTES,
    }),
  )
  const models = createCatalog(config)
  const driver = createBubblewrapDriver({
    user: users.sandbox,
    path: input.path,
    node_path: input.node_path,
    runtime_dir: join(data.root, 'sandbox'),
  })
  const repository = initialRepository(config)
  // No reason to stay down: a disk that is mounted later, or a folder that is made later, is found by the runs.
  const missing_repository = repository?.kind === 'local' && !existsSync(repository.url) ? repository.url : null
  if (missing_repository !== null) log('error', 'AGENTRUN_INIT_REPO_URL: nothing is there', { path: missing_repository })
  const started = await firstStart(db, {
    organization_name: config.AGENTRUN_INIT_ORG,
    token: config.AGENTRUN_INIT_TOKEN ?? null,
    wire_profile: config.AGENTRUN_INIT_WIRE_PROFILE,
    repository,
    sample: {
      forced: config.AGENTRUN_SAMPLE,
      make: async () => {
        const path = join(data.root, 'git', 'sample-invoice.git')
        await createRepository(git, path, { files: SAMPLE_FILES, message: 'Add up an invoice', author: 'Sample <sample@agentrun.invalid>' })
        return path
      },
    },
  })

  const rates = {
    standard: config.AGENTRUN_LIMIT_STANDARD,
    agent_creation: config.AGENTRUN_LIMIT_AGENT_CREATION,
    setup_commands: config.AGENTRUN_LIMIT_SETUP_COMMANDS,
    log_analysis: config.AGENTRUN_LIMIT_LOG_ANALYSIS,
    token_total: config.AGENTRUN_LIMIT_TOKEN_TOTAL,
    session: config.AGENTRUN_LIMIT_SESSION,
  }
  const author = {
    name: config.AGENTRUN_COMMIT_AUTHOR_NAME,
    email: config.AGENTRUN_COMMIT_AUTHOR_EMAIL,
    trailer: config.AGENTRUN_COMMIT_TRAILER,
  }
  const sealer = createSealer(input.secret_key)
  const unreadable = await countSealedOtherwise(db, sealer.key_id)
  if (unreadable > 0)
    log('error', 'stored secrets are sealed with another key than AGENTRUN_SECRET_KEY: set them again', { count: unreadable })
  const hub = new Hub()
  const services: Services = {
    db,
    findAccess: accessFinder(db),
    findRunHead: runHeadFinder(db),
    limiter: createLimiter(db, rates),
    log_pages: createLogPages(LOG_PAGES_BYTES),
    base_url: '',
    models,
    resolveBase: (repository, base_ref) => resolveBase(git, repository, base_ref),
    forge: localForge(git, author),
    commit_trailer: author.trailer,
    sealer,
    readRepositoryUrl: url =>
      readRepositoryUrl(url, { local_paths: config.AGENTRUN_REPO_PATHS, allow_private: config.AGENTRUN_ALLOW_PRIVATE_GIT }),
    environment: () => ({ sandbox: driver.name, blocked: worker.blocked }),
    turn_wall_seconds: config.AGENTRUN_RUN_MAX_WALL_SECONDS,
  }
  const worker = new Worker(
    {
      db,
      hub,
      driver,
      git,
      models,
      users,
      folders: { workspaces: data.workspaces, bundles: data.bundles },
      host: hostname(),
      get base_url() {
        return services.base_url
      },
      ceilings: {
        max_steps: config.AGENTRUN_RUN_MAX_STEPS,
        max_tokens: config.AGENTRUN_RUN_MAX_TOKENS,
        max_active_ms: config.AGENTRUN_RUN_MAX_ACTIVE_SECONDS * 1000,
      },
      turn_wall_seconds: config.AGENTRUN_RUN_MAX_WALL_SECONDS,
      model_timeouts: {
        first_byte_ms: config.AGENTRUN_MODEL_FIRST_BYTE_SECONDS * 1000,
        idle_ms: config.AGENTRUN_MODEL_IDLE_SECONDS * 1000,
        total_ms: config.AGENTRUN_MODEL_TOTAL_SECONDS * 1000,
      },
      author,
      log,
    },
    config.AGENTRUN_WORKER_CONCURRENCY,
  )
  const readiness = async () => {
    await db.ping().catch(() => {
      throw new ServiceError('unavailable', 'The database does not answer.', { headers: { 'retry-after': '2' } })
    })
    const blocked = worker.blocked
    return {
      status: 'ready' as const,
      version: input.version,
      database: 'ok' as const,
      workers: blocked === null ? ('ready' as const) : ('blocked' as const),
      workers_reason: blocked,
      sandbox: blocked === null ? driver.name : null,
    }
  }
  const { app, endStreams } = await createApp({
    services,
    feeds: new Feeds(hub, error => log('error', 'a stream could not read on; it tries again', { error: String(error) })),
    readiness,
    web: input.web,
    failed_tokens: config.AGENTRUN_LIMIT_FAILED_TOKENS,
    trust_proxy: config.AGENTRUN_TRUST_PROXY,
    version: input.version,
    allowed_hosts: allowedHosts(config),
    cors_origins: config.AGENTRUN_CORS_ORIGINS,
    log,
  })
  const listener = stack.use(new Listener(input.database_url, hub))
  await listener.start()
  stack.use(worker)
  stack.defer(async () => {
    endStreams()
    // Requests under way are answered; a connection that is merely open, or a client that does not read, is not waited for.
    const cut = setTimeout(() => app.server.closeAllConnections(), CLOSE_MS)
    await app.close()
    clearTimeout(cut)
  })
  const address = await app.listen({ host: config.AGENTRUN_HOST, port: config.AGENTRUN_PORT })
  services.base_url = config.AGENTRUN_BASE_URL ?? address
  await worker.start()

  const running = stack.move()
  return {
    base_url: services.base_url,
    started,
    missing_repository,
    workers_blocked: () => worker.blocked,
    signInLink: () => newSignInLink(services, started.user_id),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function createCatalog(config: Config): ModelCatalog {
  const provider = (api_key: string | undefined, base_url: string | undefined) =>
    api_key === undefined ? undefined : { api_key, ...(base_url && { base_url }) }
  const anthropic = provider(config.ANTHROPIC_API_KEY, config.ANTHROPIC_BASE_URL)
  const openai = provider(config.OPENAI_API_KEY, config.OPENAI_BASE_URL)
  const google = provider(config.GOOGLE_GENERATIVE_AI_API_KEY, config.GOOGLE_GENERATIVE_AI_BASE_URL)
  const compatible = config.OPENAI_COMPATIBLE_BASE_URL
  const models = createModelCatalog({
    default_model: config.AGENTRUN_DEFAULT_MODEL ?? null,
    ...(anthropic && { anthropic }),
    ...(openai && { openai }),
    ...(google && { google }),
    ...(compatible && {
      openai_compatible: { base_url: compatible, ...(config.OPENAI_COMPATIBLE_API_KEY && { api_key: config.OPENAI_COMPATIBLE_API_KEY }) },
    }),
  })
  if (models.get(models.default_model) === null)
    throw new Error(
      `AGENTRUN_DEFAULT_MODEL: ${models.default_model} is not configured; available: ${models
        .list()
        .map(model => model.id)
        .join(', ')}`,
    )
  return models
}

function initialRepository(config: Config) {
  const given = config.AGENTRUN_INIT_REPO_URL
  if (given === undefined) return null
  const url = /^\.{1,2}(\/|$)/.test(given) ? resolve(given) : given
  const parsed = parseRepositoryUrl(url, {
    local_paths: [url.replace(/^file:\/\//, ''), ...config.AGENTRUN_REPO_PATHS],
    allow_private: config.AGENTRUN_ALLOW_PRIVATE_GIT,
  })
  if (!parsed.ok) throw new Error(`AGENTRUN_INIT_REPO_URL: ${parsed.reason}`)
  return { name: parsed.name, full_name: parsed.full_name, url: parsed.url, kind: parsed.kind }
}

/** On loopback only our own names are answered, against DNS rebinding; on a public address the operator says which, or any. */
function allowedHosts(config: Config): Set<string> | null {
  const loopback = ['127.0.0.1', 'localhost', '::1'].includes(config.AGENTRUN_HOST)
  if (config.AGENTRUN_ALLOWED_HOSTS.length === 0 && !loopback) return null
  const own = config.AGENTRUN_BASE_URL === undefined ? [] : [hostName(new URL(config.AGENTRUN_BASE_URL).host)]
  return new Set([...config.AGENTRUN_ALLOWED_HOSTS.map(hostName), 'localhost', '127.0.0.1', '::1', ...own])
}
