import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { banner, workerBanner } from './banner.ts'
import { embeddedDatabase } from './compose/embedded-database.ts'
import type { Role } from './compose/parts.ts'
import { type RunningService, startService } from './compose/start-service.ts'
import { withNextMetricsPort } from './compose/telemetry.ts'
import { type Config, ConfigError, loadConfig } from './config.ts'
import { storedJson } from './core/json/stored-json.ts'
import { createLog, logWith } from './core/log.ts'
import { migrateWhenThere } from './store/migrate.ts'
import { locateDataFolder, prepareDataFolder } from './system/data-folder.ts'
import { lockDataFolder, publishedAddress } from './system/instance-lock.ts'
import { lineWriter } from './system/line-writer.ts'
import { sandboxNode } from './system/sandbox-node.ts'
import { ownSecretKey } from './system/secret-key.ts'
import { writeStartCredentials } from './system/start-credentials.ts'
import { startErrorText } from './system/start-error.ts'
import { connectSupervisor } from './system/supervisor.ts'
import { ensureSystemUsers } from './system/users.ts'

const clone_dir = fileURLToPath(new URL('../', import.meta.url))
const { version } = storedJson<{ version: string }>(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)

const REPEAT_MS = 2_000
const DATABASE_WAIT_MS = 30_000
/** How long the first lines of a start wait for the worker beside this process. */
const WORKER_WAIT_MS = 20_000
/** The supervisor has started a process that serves, and one that works on the same data folder. */
const is_pair = process.env.SUPERVISOR_PAIR !== undefined
const roles = ['all', 'serve', 'work', 'migrate'] as const

async function main() {
  // `npm start | tee log`: a Ctrl-C ends tee first, and an end in order must not fail because nobody reads of
  // it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const role = readRole(process.argv.slice(2))
  const users = ensureSystemUsers()
  const loaded = loadConfig(process.env, path => locateDataFolder({ path, clone_dir, users }))
  const is_second = is_pair && role === 'work'
  const config = is_second ? withNextMetricsPort(loaded.config) : loaded.config
  await using stack = new AsyncDisposableStack()
  // What people read at a start goes to standard output.
  const lines = stack.use(lineWriter(process.stderr.fd, line => process.stderr.write(line), linesDropped))
  const log = logWith(createLog(config.AGENTRUN_LOG_LEVEL, lines.write), { role })
  const data = prepareDataFolder({ path: config.AGENTRUN_DATA_DIR ?? null, clone_dir, users })
  const parts = role === 'serve' || role === 'work' ? [role] : undefined
  const lock = stack.use(await lockDataFolder(data.root, parts))
  const supervisor = connectSupervisor(process.env.SUPERVISOR_DESCRIPTOR)
  const stopped = Promise.race([stopSignal(), supervisor.gone])
  let is_ready = false
  // A worker that starts has no run yet, and may wait long for a database that is gone.
  void stopped.then(() => role === 'work' && !is_ready && process.exit(0))
  const database_url =
    config.DATABASE_URL ?? (await embeddedDatabase(stack, { role, config, data, users, log, stopped }))
  await migrateWhenThere(database_url, DATABASE_WAIT_MS, reason =>
    log('info', 'waiting for the database', { reason }),
  )
  if (role === 'migrate') return process.stdout.write('the database is up to date\n')
  const service = stack.use(
    await startService({
      role,
      config,
      database_url,
      data,
      secret_key: config.AGENTRUN_SECRET_KEY ?? ownSecretKey(data.root),
      users,
      path: process.env.PATH ?? '',
      version,
      log,
      node_path: sandboxNode(data.root, users.sandbox),
      web: fileURLToPath(new URL('../web/dist', import.meta.url)),
      apiAddress: () => publishedAddress(data.root),
      crashed_pid: Number(process.env.SUPERVISOR_CRASHED_PID ?? 0),
    }),
  )
  // The rule that unhandled errors end the process holds until here: what is half started is not a service.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, error => service.uncaught(error, event))
  is_ready = true
  supervisor.reportReady()
  if (service.api) lock.publishAddress(service.api.base_url)
  if (is_second) log('info', 'the worker is ready', { blocked: service.blocked() })
  else
    process.stdout.write(await Promise.race([startText(service, data.root, config), stopped.then(() => '')]))
  // Node writes its compile cache only at a graceful exit. Write it now, because users wait for the start
  // after a crash.
  flushCompileCache()
  // Loading leaves 23 MiB of garbage, which V8 would collect much later. Only supervisor.sh exposes the
  // function.
  globalThis.gc?.({ type: 'major', flavor: 'last-resort' })
  await stopped
  if (!is_second) process.stdout.write('stopping …\n')
  await service.drain()
}

/** Credentials only for a terminal: what else standard output is, a supervisor or a pipe, keeps it. */
async function startText(service: RunningService, data_dir: string, config: Config): Promise<string> {
  const blocked = is_pair ? await service.neighbourBlocked(WORKER_WAIT_MS) : service.blocked()
  if (!service.api)
    return workerBanner({ blocked, data_dir, concurrency: config.AGENTRUN_WORKER_CONCURRENCY })
  const link = await service.api.signInLink()
  const token = await service.api.firstToken()
  const files = process.stdout.isTTY ? null : writeStartCredentials(data_dir, { link, token })
  return banner({
    ...service.api,
    blocked,
    link,
    token,
    files,
    data_dir,
    default_model: config.AGENTRUN_DEFAULT_MODEL ?? null,
  })
}

const linesDropped = (count: number) =>
  `${JSON.stringify({ time: new Date().toISOString(), level: 'warn', message: 'nobody read the log: lines were dropped', count })}\n`

/** `all` by default. */
function readRole(words: string[]): Role | 'migrate' {
  const [word = 'all', ...more] = words
  const role = roles.find(name => name === word)
  if (role === undefined || more.length > 0) throw new ConfigError(`start it as one of: ${roles.join(', ')}`)
  return role
}

/**
 * Resolves at the first signal, or when the process of `node --watch` is gone. A terminal's Ctrl-C arrives
 * several times: repeats within two seconds are the same one.
 */
function stopSignal(): Promise<string> {
  return new Promise(resolve => {
    let first = 0
    const stop = (signal: string) => {
      if (first === 0) first = performance.now()
      else if (performance.now() - first > REPEAT_MS) process.exit(1)
      resolve(signal)
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal))
    process.on('disconnect', () => resolve('disconnect'))
  })
}

main().then(
  () => process.exit(0),
  error => {
    process.stderr.write(`cannot start: ${startErrorText(error)}\n`)
    process.exit(1)
  },
)
