import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { backUp } from './backup/backup.ts'
import { restore } from './backup/restore.ts'
import { type Config, loadConfig, schema } from './config.ts'
import { describeSources } from './configuration/describe.ts'
import { describeSize, type SizingInput } from './core/cluster/sizing.ts'
import { storedJson } from './core/json/stored-json.ts'
import { createSealer } from './core/secrets/sealing.ts'
import { examineDeployment } from './doctor/examine.ts'
import { startEmbeddedPostgres } from './postgres/embedded.ts'
import { findRunningPostgres, hasCluster } from './postgres/running.ts'
import { createOperatorLink, createOperatorToken } from './service/access/operator.ts'
import { rotateSecrets } from './service/secrets/rotate-secrets.ts'
import { Database } from './store/database.ts'
import { requireMigrated } from './store/migrate.ts'
import { findDataFolder, locateDataFolder, prepareDataFolder } from './system/data-folder.ts'
import { DataFolderInUse, lockDataFolder } from './system/instance-lock.ts'
import { ensureSystemUsers } from './system/users.ts'

const usage = `usage: ./agentrun admin token [--user EMAIL|ID] [--org ID] [--name NAME] [--wire-profile standard|codegen]
       ./agentrun admin link  [--user EMAIL|ID] [--org ID]
       ./agentrun admin backup FILE
       ./agentrun admin restore FILE
       ./agentrun admin rotate-secrets
       ./agentrun admin config
       ./agentrun admin doctor
       ./agentrun admin size --runs-per-day N --concurrent N [--run-minutes N] [--step-seconds N] [--retention-days N]

All commands use the configuration of this service; all but config and size use its database, whether it runs or not.

token, link: for a user who is locked out; by default the oldest ADMIN of the organization, and by default the first organization. A token with
--org is valid for that organization only.
backup: writes the whole database, as of one moment, into a new file.
restore: reads a backup into a new database, while no service runs on it. Keep the secret key with your backups: it is not in them.
rotate-secrets: encrypts every stored secret with AGENTRUN_SECRET_KEY; AGENTRUN_SECRET_KEY_PREVIOUS decrypts the existing ones. The service may run.
config: shows every variable that is set and where its value comes from, without secrets. Mistakes are reported as at a start.
doctor: checks a deployment: database, migrations, every process, their agreement, the queue, and the public address. AGENTRUN_TOKEN, a token with
runs:read, also checks that event streams pass. The exit code is 1 when something is broken.
size: what a load needs of the database, the disk and the machines, from the measurements in docs/operations/sizing.md. --concurrent is the peak. By
default a run takes 10 minutes, with a step every 5 seconds.
`

const START_MS = 30_000
const { version } = storedJson<{ version: string }>(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
)
const clone_dir = fileURLToPath(new URL('../', import.meta.url))
const report = (line: string) => process.stderr.write(`${line}\n`)

/** Wrong arguments: reported with the usage. */
class UsageError extends Error {}

async function main(args: string[]) {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const given = readArguments(args)
  if (given.file !== undefined) return keep(given.command, given.file)
  if (given.command === 'rotate-secrets') return rotate()
  if (given.command === 'config') return showConfiguration()
  if (given.command === 'doctor') return doctor()
  if (given.command === 'size') return process.stdout.write(`${describeSize(given.input).join('\n')}\n`)
  const { config } = configuration()
  const base_url = given.command === 'link' ? await addressOf(config) : ''
  await using stack = new AsyncDisposableStack()
  const url = config.DATABASE_URL ?? (await openEmbedded(config, stack))
  await requireMigrated(url)
  const db = stack.use(new Database(url, { max: 1, on_error: () => {} }))
  if (given.command === 'link') {
    const { link, user } = await createOperatorLink({ db, base_url }, given)
    report(
      `A link that signs ${nameOf(user)} in once, within 15 minutes. Set AGENTRUN_BASE_URL if the service is reached at another address.`,
    )
    process.stdout.write(`${link}\n`)
    return
  }
  const { token, user, organization_id } = await createOperatorToken(db, given, given)
  const where =
    organization_id === null
      ? `organization ${user.organization_ids.join(', ')}`
      : `organization ${organization_id} only`
  report(`A token of ${nameOf(user)} for ${where}. It is shown only now.`)
  process.stdout.write(`${token}\n`)
}

function configuration() {
  const users = ensureSystemUsers()
  return loadConfig(process.env, path => locateDataFolder({ path, clone_dir, users }))
}

function showConfiguration() {
  process.stdout.write(`${describeSources(configuration().sources, Object.keys(schema.shape)).join('\n')}\n`)
}

async function doctor() {
  const { config } = configuration()
  await using stack = new AsyncDisposableStack()
  const base_url = await addressOf(config)
  const db = stack.use(
    new Database(config.DATABASE_URL ?? (await openEmbedded(config, stack)), { max: 1, on_error: () => {} }),
  )
  const own_key_id =
    config.AGENTRUN_SECRET_KEY === undefined ? null : createSealer(config.AGENTRUN_SECRET_KEY).key_id
  for await (const { state, check, detail, fix } of examineDeployment({
    db,
    own_key_id,
    base_url,
    token: process.env.AGENTRUN_TOKEN || null,
  })) {
    if (state === 'broken') process.exitCode = 1
    process.stdout.write(
      `${state === 'broken' ? 'BROKEN' : state} ${check}: ${detail}\n${fix === null ? '' : `  → ${fix}\n`}`,
    )
  }
}

async function keep(command: 'backup' | 'restore', file: string) {
  const { config } = configuration()
  await using stack = new AsyncDisposableStack()
  const url = config.DATABASE_URL ?? (await openEmbedded(config, stack, command === 'restore'))
  if (command === 'backup') {
    await requireMigrated(url)
    const { tables, rows, sha256 } = await backUp(url, resolve(file), version)
    return report(`${rows} rows of ${tables} tables are in ${file} (content sha256 ${sha256})`)
  }
  const { taken_at, version: of, tables, rows } = await restore(url, resolve(file))
  report(
    `The database is as it was at ${taken_at} (version ${of}): ${rows} rows of ${tables} tables. Start the service; runs that were active continue.`,
  )
}

async function rotate() {
  const { config } = configuration()
  const key = config.AGENTRUN_SECRET_KEY
  if (key === undefined)
    throw new Error('AGENTRUN_SECRET_KEY is not set: it is the key that values are sealed with from now on')
  await using stack = new AsyncDisposableStack()
  const url = config.DATABASE_URL ?? (await openEmbedded(config, stack))
  await requireMigrated(url)
  const db = stack.use(new Database(url, { max: 1, on_error: () => {} }))
  const { resealed, changed, unreadable } = await rotateSecrets(
    db,
    createSealer(key, config.AGENTRUN_SECRET_KEY_PREVIOUS),
  )
  report(
    `${resealed} values are encrypted with the current key${changed > 0 ? `, ${changed} were replaced meanwhile` : ''}.`,
  )
  if (unreadable > 0)
    throw new Error(
      `${unreadable} values are sealed with a key that is neither AGENTRUN_SECRET_KEY nor in AGENTRUN_SECRET_KEY_PREVIOUS`,
    )
}

const nameOf = ({ id, full_name, email }: { id: number; full_name: string | null; email: string | null }) =>
  `${full_name ?? email ?? 'somebody'} (user ${id})`

function readArguments(args: string[]) {
  const { values, positionals } = parsed(args)
  const [command, ...rest] = positionals
  if (values.help || command === undefined) throw new UsageError('')
  if (command === 'backup' || command === 'restore') {
    const [file, ...more] = rest
    if (file === undefined || more.length > 0) throw new UsageError(`${command} takes one file`)
    return { command, file } as const
  }
  if ((command === 'rotate-secrets' || command === 'config' || command === 'doctor') && rest.length > 0)
    throw new UsageError(`${command} takes nothing more`)
  if (command === 'rotate-secrets') return { command } as const
  if (command === 'config') return { command } as const
  if (command === 'doctor') return { command } as const
  if (command === 'size') return { command, input: readSize(values, rest) } as const
  if ((command !== 'token' && command !== 'link') || rest.length > 0)
    throw new UsageError(`there is no command "${positionals.join(' ')}"`)
  if (command === 'link' && (values.name !== undefined || values['wire-profile'] !== undefined))
    throw new UsageError('--name and --wire-profile are for a token')
  const wire_profile = values['wire-profile'] ?? 'standard'
  if (wire_profile !== 'standard' && wire_profile !== 'codegen')
    throw new UsageError('--wire-profile is standard or codegen')
  if (values.org !== undefined && !/^\d{1,15}$/.test(values.org))
    throw new UsageError('--org is the number of an organization')
  const name = values.name?.trim() ?? 'created by the operator'
  if (name === '' || name.length > 100) throw new UsageError('--name has 1 to 100 characters')
  const organization_id = values.org === undefined ? null : Number(values.org)
  return { command, user: values.user ?? null, organization_id, name, wire_profile } as const
}

/** Numbers of `size`: from 1 to a number that no deployment reaches. */
const size_options = ['runs-per-day', 'concurrent', 'run-minutes', 'step-seconds', 'retention-days'] as const

function readSize(
  values: Partial<Record<(typeof size_options)[number], string>>,
  rest: string[],
): SizingInput {
  if (rest.length > 0) throw new UsageError('size takes nothing more')
  const numberOf = (name: (typeof size_options)[number]) => {
    const value = values[name]
    if (value !== undefined && !/^[1-9]\d{0,7}$/.test(value))
      throw new UsageError(`--${name} is a whole number from 1 to 99999999`)
    return value === undefined ? null : Number(value)
  }
  const [runs_per_day, concurrent] = [numberOf('runs-per-day'), numberOf('concurrent')]
  if (runs_per_day === null || concurrent === null)
    throw new UsageError('size needs --runs-per-day and --concurrent')
  const [run_minutes, step_seconds] = [numberOf('run-minutes') ?? 10, numberOf('step-seconds') ?? 5]
  return { runs_per_day, concurrent, run_minutes, step_seconds, retention_days: numberOf('retention-days') }
}

function parsed(args: string[]) {
  const text = { type: 'string' } as const
  try {
    const numbers = {
      'runs-per-day': text,
      concurrent: text,
      'run-minutes': text,
      'step-seconds': text,
      'retention-days': text,
    } as const
    const options = {
      user: text,
      org: text,
      name: text,
      'wire-profile': text,
      ...numbers,
      help: { type: 'boolean', short: 'h' },
    } as const
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Where a browser reaches the service: where the running one serves, else where its configuration states. */
async function addressOf(config: Config): Promise<string> {
  const { AGENTRUN_BASE_URL, AGENTRUN_HOST, AGENTRUN_PORT } = config
  const known = AGENTRUN_BASE_URL ?? (await runningAddress(config))
  if (known !== null) return known
  if (AGENTRUN_PORT === 0)
    throw new Error('AGENTRUN_PORT is 0, so nobody knows the address: set AGENTRUN_BASE_URL')
  const host = ['0.0.0.0', '::'].includes(AGENTRUN_HOST) ? '127.0.0.1' : AGENTRUN_HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${AGENTRUN_PORT}`
}

/** Null when no service runs on the data folder; with `DATABASE_URL` it may run on another machine. */
async function runningAddress(config: Config): Promise<string | null> {
  try {
    await using _ = await lockDataFolder(findDataFolder(folderOf(config)).root)
    return null
  } catch (error) {
    if (error instanceof DataFolderInUse) return error.address
    if (config.DATABASE_URL !== undefined) return null
    throw error
  }
}

const folderOf = (config: Config, users = ensureSystemUsers()) => ({
  path: config.AGENTRUN_DATA_DIR ?? null,
  clone_dir,
  users,
})

/**
 * The server that the running service has, or one of our own until the end. The folder's lock decides which:
 * a service that starts meanwhile is refused. `may_make`: where there is none yet, a new one.
 */
async function openEmbedded(
  config: Config,
  stack: AsyncDisposableStack,
  may_create = false,
): Promise<string> {
  const users = ensureSystemUsers()
  const folder = folderOf(config, users)
  const data = may_create ? prepareDataFolder(folder) : findDataFolder(folder)
  if (!may_create && !hasCluster(data.postgres))
    throw new Error(`there is no database in ${data.root} yet: start the service once`)
  try {
    stack.use(await lockDataFolder(data.root))
  } catch (error) {
    if (!(error instanceof DataFolderInUse)) throw error
    const url = await findRunningPostgres(data.postgres, START_MS)
    if (url === null) throw new Error(`${error.message}, and its database does not respond`)
    return url
  }
  const owners = { user: users.database, former: users.service }
  return stack.use(await startEmbeddedPostgres({ data_dir: data.postgres, ...owners, log: report })).url
}

main(process.argv.slice(2)).then(
  () => process.exit(),
  error => {
    const message = error instanceof Error ? error.message : String(error)
    report(
      error instanceof UsageError
        ? `${message}${message && '\n\n'}${usage.trimEnd()}`
        : `cannot do that: ${message}`,
    )
    process.exit(error instanceof UsageError ? 2 : 1)
  },
)
