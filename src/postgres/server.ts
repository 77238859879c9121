import { pause } from '../core/pause.ts'
import type { SystemUser } from '../system/users.ts'
import type { PostgresBinaries } from './binaries.ts'
import { lastLogLine } from './cluster.ts'
import { readPostmasterPid } from './leftover.ts'
import { spawnPostgres } from './spawn-postgres.ts'

type ServerOptions = {
  binaries: PostgresBinaries
  cluster: string
  socket_folder: string
  /** Of `accessArguments`. */
  access: string[]
  user: SystemUser | null
  log_file: string
  durable: boolean
}

/** `ended` resolves, whenever the server ends, with a line that describes how. */
export type Server = { pid: number; ended: Promise<string> }

/**
 * Starts the server and resolves when it takes connections, however long crash recovery lasts. It may outlive
 * us.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { binaries, cluster, user, log_file } = options
  const args = ['-D', cluster, '-k', options.socket_folder, ...options.access, ...settings(options.durable)]
  const { child, logged } = spawnPostgres(binaries.postgres, args, { user, log_file })
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    // A server that was killed or stopped on request has written nothing about it.
    child.once('exit', (code, signal) =>
      resolve(`PostgreSQL ended with ${code ? `${code}: ${lastLogLine(log_file, logged)}` : (signal ?? 0)}`),
    )
  })
  let gone: string | null = null
  const noticed = ended.then(reason => {
    gone = reason
  })
  for (;;) {
    const pid = readPostmasterPid(cluster)
    if (pid && pid.pid === child.pid && pid.status === 'ready') return { pid: pid.pid, ended }
    await Promise.race([pause(5), noticed])
    if (gone) throw new Error(gone)
  }
}

function settings(durable: boolean): string[] {
  const values: Record<string, string> = {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    shared_buffers: '64MB',
    // Its files are on a solid-state disk or cached: reading the rows of an index costs little more than
    // reading a table in order.
    random_page_cost: '1.1',
    max_connections: '200',
    io_method: 'sync',
    max_logical_replication_workers: '0',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    // Statements and their values hold prompts and secrets: the log gets neither.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    fsync: durable ? 'on' : 'off',
    ...(!durable && { synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
