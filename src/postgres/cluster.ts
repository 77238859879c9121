import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { handOver } from '../system/own-folder.ts'
import { runAs } from '../system/run-as.ts'
import type { SystemUser } from '../system/users.ts'
import type { PostgresBinaries } from './binaries.ts'
import { spawnPostgres } from './spawn-postgres.ts'

/** The superuser and the database of the service in an embedded cluster. */
export const database_name = 'agentrun'

type ClusterOptions = {
  cluster: string
  binaries: PostgresBinaries
  user: SystemUser | null
  log_file: string
  durable: boolean
}

/**
 * Makes the cluster's folder by initdb when it is missing. initdb works in a folder of its own that is
 * renamed at the end: a start killed in the middle leaves nothing that looks like a cluster. Throws when an
 * existing one is of another major version.
 */
export async function ensureCluster(options: ClusterOptions): Promise<void> {
  const { cluster, binaries } = options
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    const major = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
    if (major === binaries.major) return
    throw new Error(
      `${cluster} was created by PostgreSQL ${major}, this is ${binaries.major}: move the data over with pg_dump, or start the version that created it`,
    )
  }
  for (const name of readdirSync(dirname(cluster))) {
    if (name.startsWith(`${basename(cluster)}.init-`)) await removeUnfinished(join(dirname(cluster), name))
  }
  const unfinished = `${cluster}.init-${process.pid}`
  mkdirSync(unfinished)
  handOver(unfinished, 0o700, options.user)
  await runInitdb(unfinished, options)
  renameSync(unfinished, cluster)
}

/** As the user whose folder it is: that user could make links of what is in it meanwhile. */
async function removeUnfinished(path: string): Promise<void> {
  const { uid, gid } = lstatSync(path)
  if (uid === process.getuid?.()) return rmSync(path, { recursive: true })
  await runAs({ name: String(uid), uid, gid }, '/bin/sh', ['-c', 'rm -rf -- "$1"/* "$1"/.[!.]*', 'sh', path])
  rmdirSync(path)
}

/**
 * C.UTF-8 of the builtin provider: case rules for all of Unicode, one order on every machine, no dependency
 * on the system's locales.
 */
async function runInitdb(
  folder: string,
  { binaries, user, log_file, durable }: ClusterOptions,
): Promise<void> {
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = [
    `--username=${database_name}`,
    `--auth-local=${user ? 'peer' : 'trust'}`,
    '--auth-host=reject',
  ]
  const args = ['-D', folder, ...access, ...locale, '--no-instructions', ...(durable ? [] : ['--no-sync'])]
  const { child } = spawnPostgres(binaries.initdb, args, { user, log_file })
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (status, signal) => resolve(status ?? signal))
  })
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${lastLogLine(log_file)}`)
}

/**
 * Returns the last output of PostgreSQL that explains its end, for one-line errors: after the first `from`
 * bytes of its log.
 */
export function lastLogLine(log_file: string, from = 0): string {
  if (!existsSync(log_file)) return 'its log is gone'
  const lines = readFileSync(log_file).subarray(from).toString().trimEnd().split('\n')
  return lines.findLast(line => /(FATAL|PANIC): /.test(line) && !CALLERS.test(line)) ?? lines.at(-1) ?? ''
}

/** Its messages to clients that connect while it starts or stops. */
const CALLERS = /the database system is|terminating connection/
