import { existsSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../core/pause.ts'
import { changeOwner } from '../system/change-owner.ts'
import { createOwnFolder } from '../system/own-folder.ts'
import { isAlive, processUid } from '../system/processes.ts'
import { rootName, type SystemUser } from '../system/users.ts'
import { installBinaries, type PostgresBinaries } from './binaries.ts'
import { database_name, ensureCluster } from './cluster.ts'
import { ensureDatabase, isClusterAt } from './connect.ts'
import { keepRunning } from './keep-running.ts'
import { clearDeadServer, findOrphan, stopServer } from './leftover.ts'
import { type Server, startServer } from './server.ts'
import { createSocketFolder, removeTemporarySocketFolder, socketUrl } from './socket-folder.ts'

type EmbeddedPostgresOptions = {
  /**
   * Absolute path of a folder that is PostgreSQL's alone, created when missing, ours: `pg-<version>`,
   * `postgres.log` and who may connect. `cluster` and `run` in it are the user's.
   */
  data_dir: string
  /** Where the socket goes instead of `<data_dir>/run`. */
  run_dir?: string
  /** Who runs PostgreSQL, which refuses to run as root; null: ourselves. */
  user: SystemUser | null
  /**
   * Who ran it while no account for the database could be created: the files of that user are given to
   * `user`.
   */
  former?: SystemUser | null
  /** Takes a line for the operator where something unusual happens: first start, adoption, crash recovery. */
  log: (line: string) => void
  /** false turns fsync off, for databases that nobody will miss. */
  durable?: boolean
}

export type EmbeddedPostgres = AsyncDisposable & {
  /** Connection string of the database `agentrun` over the unix socket, as its superuser. */
  url: string
  readonly pid: number
  /** Ends the server; safe to call twice. It cuts open connections, so end pools first. */
  stop(): Promise<void>
}

/**
 * Starts the PostgreSQL that npm brought, on a unix socket only, and makes cluster and database at the first
 * start. A server that a killed service left running is adopted, and one that ends by itself is started
 * again, without end. The caller holds the lock of the data folder. Rejects with a one-line message.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { user, log, durable = true } = options
  createOwnFolder(options.data_dir, user ? 0o711 : 0o700, null)
  const data_dir = realpathSync(options.data_dir)
  const log_file = join(data_dir, 'postgres.log')
  const cluster = join(data_dir, 'cluster')

  const orphan = findOrphan(cluster)
  if (orphan) {
    const is_own = user === null || processUid(orphan.pid) === user.uid
    if (
      is_own &&
      (await isClusterAt(socketUrl(orphan.socket_folder, database_name, database_name), cluster))
    ) {
      log(`adopted the PostgreSQL that an earlier service left running (process ${orphan.pid})`)
      const adopted = { pid: orphan.pid, ended: watch(orphan.pid) }
      return supervised(adopted, orphan.socket_folder, () =>
        start(installBinaries(data_dir), orphan.socket_folder),
      )
    }
    await stopServer(orphan.pid)
  }
  const binaries = installBinaries(data_dir)
  if (user && options.former) changeOwner(cluster, options.former.uid, user)
  keepSmall(log_file)
  if (!existsSync(cluster)) log('first start: creating the database')
  await ensureCluster({ cluster, binaries, user, log_file, durable })
  const socket_folder = createSocketFolder(options.run_dir ?? join(data_dir, 'run'), user)
  if (existsSync(join(cluster, 'postmaster.pid'))) log('PostgreSQL was not shut down: recovering')
  const postgres = supervised(await start(binaries, socket_folder), socket_folder, () =>
    start(binaries, socket_folder),
  )
  try {
    await ensureDatabase(postgres.url)
  } catch (error) {
    await postgres.stop()
    throw error
  }
  return postgres

  async function start(found: PostgresBinaries, folder: string): Promise<Server> {
    await clearDeadServer(cluster, folder)
    const access = accessArguments(data_dir, user, rootName())
    return startServer({ binaries: found, cluster, socket_folder: folder, access, user, log_file, durable })
  }

  function supervised(server: Server, folder: string, again: () => Promise<Server>): EmbeddedPostgres {
    const kept = keepRunning(server, again, log)
    const stop = async () => {
      await kept.stop()
      removeTemporarySocketFolder(folder)
    }
    return {
      url: socketUrl(folder, database_name, database_name),
      get pid() {
        return kept.pid
      },
      stop,
      [Symbol.asyncDispose]: stop,
    }
  }
}

/** An adopted server is nobody's child here, so only polling detects that it ended. */
async function watch(pid: number): Promise<string> {
  while (isAlive(pid)) await pause(50)
  return 'PostgreSQL, adopted from an earlier service, ended'
}

function keepSmall(log_file: string): void {
  if (existsSync(log_file) && statSync(log_file).size > 10_000_000) renameSync(log_file, `${log_file}.1`)
}

const MAP = 'service'

/**
 * Writes who may connect, into files that the database user can read and not change, and returns the server's
 * arguments for them. The kernel reports to the server which user is at the other end of its socket: only
 * root, as which the service runs, is the database's superuser. `user` null: service and server are one user,
 * and the folder of the socket is open to that one alone.
 */
function accessArguments(data_dir: string, user: SystemUser | null, root_name: string): string[] {
  if (user === null) return []
  const rules = join(data_dir, 'access.conf')
  const names = join(data_dir, 'access-names.conf')
  replace(rules, `local all ${database_name} peer map=${MAP}\n`)
  replace(names, `${MAP} "${root_name}" ${database_name}\n`)
  return ['-c', `hba_file=${rules}`, '-c', `ident_file=${names}`]
}

/** In one step: a running server may read it at this moment. */
function replace(path: string, text: string): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text, { mode: 0o644 })
  renameSync(draft, path)
}
