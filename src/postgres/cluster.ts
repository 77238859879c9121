import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { SystemUser } from '../system/users.ts'
import type { PostgresBinaries } from './binaries.ts'
import { spawnPostgres } from './spawn-postgres.ts'

/** The superuser and the database of the service in an embedded cluster. */
export const database_name = 'agentrun'

type ClusterOptions = { cluster: string; binaries: PostgresBinaries; user: SystemUser | null; log_file: string; durable: boolean }

/**
 * Makes the cluster's folder by initdb when it is missing. initdb works in a folder of its own that is renamed at the end: a start
 * killed in the middle leaves nothing that looks like a cluster. Throws when an existing one is of another major version.
 */
export async function ensureCluster(options: ClusterOptions): Promise<void> {
  const { cluster, binaries } = options
  if (existsSync(join(cluster, 'PG_VERSION'))) {
    const major = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
    if (major === binaries.major) return
    throw new Error(
      `${cluster} was made by PostgreSQL ${major}, this is ${binaries.major}: move the data over with pg_dump, or start the version that made it`,
    )
  }
  for (const name of readdirSync(dirname(cluster))) {
    if (name.startsWith(`${basename(cluster)}.init-`)) rmSync(join(dirname(cluster), name), { recursive: true, force: true })
  }
  const unfinished = `${cluster}.init-${process.pid}`
  await runInitdb(unfinished, options)
  renameSync(unfinished, cluster)
}

/** C.UTF-8 of the builtin provider: case rules for all of Unicode, one order on every machine, no dependency on the system's locales. */
async function runInitdb(folder: string, { binaries, user, log_file, durable }: ClusterOptions): Promise<void> {
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = [`--username=${database_name}`, '--auth-local=trust', '--auth-host=reject']
  const args = ['-D', folder, ...access, ...locale, '--no-instructions', ...(durable ? [] : ['--no-sync'])]
  const { child } = spawnPostgres(binaries.initdb, args, { user, log_file })
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (status, signal) => resolve(status ?? signal))
  })
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${lastLogLine(log_file)}`)
}

/** What PostgreSQL wrote last that tells why it ended, for one-line errors: after the first `from` bytes of its log. */
export function lastLogLine(log_file: string, from = 0): string {
  if (!existsSync(log_file)) return 'its log is gone'
  const lines = readFileSync(log_file).subarray(from).toString().trimEnd().split('\n')
  return lines.findLast(line => /(FATAL|PANIC): /.test(line) && !CALLERS.test(line)) ?? lines.at(-1) ?? ''
}

/** What it tells those who call at the wrong moment. */
const CALLERS = /the database system is|terminating connection/
