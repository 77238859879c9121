import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { isAlive, processExecutable, processIds, waitUntil } from '../../src/system/processes.ts'
import { ensureSystemUsers } from '../../src/system/users.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const { database } = ensureSystemUsers()
const folder = temporaryFolder()
const data_dir = join(folder.path, 'postgres')
const cluster = join(data_dir, 'cluster')
const lines: string[] = []

function start(at = data_dir): Promise<EmbeddedPostgres> {
  lines.length = 0
  return startEmbeddedPostgres({ data_dir: at, user: database, log: line => lines.push(line) })
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

function processesIn(at: string): number[] {
  return processIds().filter(pid => processExecutable(pid)?.cwd === at)
}

/** Another process that owns the server, as the service does, and can be killed. */
async function startOwner(at: string): Promise<{
  url: string
  pid: number
  signal: (signal: NodeJS.Signals) => boolean
  kill: () => Promise<void>
}> {
  const owner = spawn(process.execPath, [join(import.meta.dirname, 'postgres-owner.ts'), at], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: owner.stdout }), 'line')
  const kill = async () => {
    owner.kill('SIGKILL')
    await once(owner, 'exit')
  }
  return { ...JSON.parse(line), signal: (signal: NodeJS.Signals) => owner.kill(signal), kill }
}

beforeAll(async () => {
  await using postgres = await start()
  await query(postgres.url, "create table kept as select 'from the first start' as value")
})
afterAll(() => folder[Symbol.dispose]())

test('the next start finds the rows of the one before, and stop leaves no process', async () => {
  const postgres = await start()
  expect(await query(postgres.url, 'select value from kept')).toEqual([{ value: 'from the first start' }])
  expect(lines).toEqual([])
  await postgres.stop()
  await postgres.stop()
  expect(isAlive(postgres.pid)).toBe(false)
  expect(processesIn(cluster)).toEqual([])
})

test('committed means on disk, and the server is reached by its own user through a unix socket only', async () => {
  await using postgres = await start()
  const [settings] = await query(
    postgres.url,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
        current_setting('listen_addresses') as addresses, lower('ÄÖ') as lower`,
  )
  expect(settings).toEqual({ fsync: 'on', commit: 'on', addresses: '', lower: 'äö' })
  expect(statSync(join(data_dir, 'run')).mode & 0o777).toBe(0o700)
  expect(statSync(`/proc/${postgres.pid}`).uid).toBe(database?.uid ?? process.getuid?.())
  expect(statSync(`/proc/${postgres.pid}`).uid).not.toBe(0)
})

test('a server whose service was killed is adopted with its rows and ended by the adopter', async () => {
  const owner = await startOwner(data_dir)
  await query(owner.url, 'create table adopted as select 1 as value')
  await owner.kill()
  const postgres = await start()
  expect(postgres.pid).toBe(owner.pid)
  expect(lines).toEqual([expect.stringContaining(`process ${owner.pid}`)])
  expect(await query(postgres.url, 'select value from adopted')).toEqual([{ value: 1 }])
  await postgres.stop()
  expect(isAlive(owner.pid)).toBe(false)
  expect(processesIn(cluster)).toEqual([])
})

test('after service and server were killed together every committed row is back', async () => {
  const owner = await startOwner(data_dir)
  await query(owner.url, 'create table crashed as select generate_series(1, 1000) as value')
  // The service first: it would start the server again.
  owner.signal('SIGSTOP')
  process.kill(owner.pid, 'SIGKILL')
  await owner.kill()
  await using postgres = await start()
  expect(postgres.pid).not.toBe(owner.pid)
  expect(lines).toEqual([expect.stringContaining('recovering')])
  expect(await query(postgres.url, 'select count(*)::int as rows from crashed')).toEqual([{ rows: 1000 }])
})

test('a dead server whose parent never collects it does not stop the next start', async () => {
  const owner = await startOwner(data_dir)
  await query(owner.url, 'create table unreaped as select 1 as value')
  owner.signal('SIGSTOP')
  process.kill(owner.pid, 'SIGKILL')
  {
    await using postgres = await start()
    expect(process.kill(owner.pid, 0)).toBe(true)
    expect(await query(postgres.url, 'select value from unreaped')).toEqual([{ value: 1 }])
  }
  await owner.kill()
})

test('fault 10: a server that is killed is started again with its rows, and one that is stopped is not', async () => {
  const postgres = await start()
  await query(postgres.url, 'create table killed as select 1 as value')
  const { pid } = postgres
  process.kill(pid, 'SIGKILL')
  await waitUntil(() => postgres.pid !== pid, 20_000)
  expect(await query(postgres.url, 'select value from killed')).toEqual([{ value: 1 }])
  expect(lines).toEqual([
    expect.stringContaining('SIGKILL'),
    expect.stringContaining(`process ${postgres.pid}`),
  ])
  await postgres.stop()
  expect(processesIn(cluster)).toEqual([])
  expect(lines).toHaveLength(2)
})

test('fault 16: a server that cannot be started is retried until it starts, and a stop ends the retries', async () => {
  const hidden = join(data_dir, 'hidden')
  const breakIt = async (postgres: { pid: number }) => {
    renameSync(join(cluster, 'global'), hidden)
    process.kill(postgres.pid, 'SIGKILL')
    await waitUntil(() => lines.some(line => line.includes('cannot be started')), 20_000)
  }
  const postgres = await start()
  const { pid } = postgres
  await breakIt(postgres)
  renameSync(hidden, join(cluster, 'global'))
  await waitUntil(() => postgres.pid !== pid, 20_000)
  expect(await query(postgres.url, 'select 1 as value')).toEqual([{ value: 1 }])
  lines.length = 0
  await breakIt(postgres)
  await postgres.stop()
  renameSync(hidden, join(cluster, 'global'))
  expect(processesIn(cluster)).toEqual([])
})

test('a pid file that names another process is not trusted and that process is not touched', async () => {
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore' })
  await once(stranger, 'spawn')
  writeFileSync(
    join(cluster, 'postmaster.pid'),
    `${stranger.pid}\n${cluster}\n1\n5432\n${join(data_dir, 'run')}\n\n0 0\nready   \n`,
  )
  {
    await using postgres = await start()
    expect(await query(postgres.url, 'select value from kept')).toHaveLength(1)
  }
  expect(stranger.exitCode).toBeNull()
  stranger.kill('SIGKILL')
  await once(stranger, 'exit')
})

test('a cluster of another major version is refused and stays as it was', async () => {
  using other = temporaryFolder()
  mkdirSync(join(other.path, 'postgres/cluster'), { recursive: true })
  writeFileSync(join(other.path, 'postgres/cluster/PG_VERSION'), '9\n')
  await expect(start(join(other.path, 'postgres'))).rejects.toThrow(/was created by PostgreSQL 9, this is 18/)
  expect(readFileSync(join(other.path, 'postgres/cluster/PG_VERSION'), 'utf8')).toBe('9\n')
})

test('in a folder too deep for a socket address it starts, is adopted after a kill, and leaves no socket folder', async () => {
  using deep = temporaryFolder()
  const at = join(deep.path, 'd'.repeat(60), 'e'.repeat(60), 'postgres')
  mkdirSync(join(at, 'cluster.init-1/base'), { recursive: true })
  const owner = await startOwner(at)
  const socket_folder = new URL(owner.url).searchParams.get('host') ?? ''
  expect(readdirSync(at)).not.toContain('cluster.init-1')
  await owner.kill()
  const postgres = await start(at)
  expect(postgres.pid).toBe(owner.pid)
  await postgres.stop()
  expect(existsSync(socket_folder)).toBe(false)
})

test('a connection string names its database by path, so that a neighbour is one change away', async () => {
  await using postgres = await start()
  const neighbour = new URL(postgres.url)
  neighbour.pathname = '/postgres'
  expect(await query(neighbour.href, 'select current_database() as name')).toEqual([{ name: 'postgres' }])
})
