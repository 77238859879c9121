import { readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isAlive, processExecutable, processIds, signalProcess, waitUntil } from '../system/processes.ts'
import { removeTemporarySocketFolder } from './socket-folder.ts'

/** The content of postmaster.pid; `status` is 'starting', 'stopping' or 'ready'. */
type PostmasterPid = { pid: number; socket_folder: string; status: string }

/**
 * Returns the running or dead server that last wrote postmaster.pid; null when there is no such file or it is
 * not complete yet.
 */
export function readPostmasterPid(cluster: string): PostmasterPid | null {
  let lines: string[]
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return null
  }
  const [pid = '', , , , socket_folder = '', , , status = ''] = lines
  return Number(pid) > 1 ? { pid: Number(pid), socket_folder, status: status.trim() } : null
}

/**
 * Returns the live server of this cluster that a killed service left behind. Its working directory proves it:
 * a pid alone may have been given to another process since.
 */
export function findOrphan(cluster: string): PostmasterPid | null {
  const named = readPostmasterPid(cluster)
  return named && isAlive(named.pid) && serves(named.pid, cluster) ? named : null
}

/**
 * Cleans up after a server that died: waits for its children, ends those that linger, and removes the lock
 * files that would make PostgreSQL refuse to start while a zombie still holds the pid. Call only when
 * `findOrphan` finds nobody.
 */
export async function clearDeadServer(cluster: string, socket_folder: string): Promise<void> {
  if (!(await waitUntil(() => serversOf(cluster).length === 0, 1_000))) {
    for (const pid of serversOf(cluster)) signalProcess(pid, 'SIGKILL')
    await waitUntil(() => serversOf(cluster).length === 0, 5_000)
  }
  const dead = readPostmasterPid(cluster)
  if (dead && dead.socket_folder !== socket_folder) removeTemporarySocketFolder(dead.socket_folder)
  for (const file of [
    join(cluster, 'postmaster.pid'),
    join(socket_folder, '.s.PGSQL.5432'),
    join(socket_folder, '.s.PGSQL.5432.lock'),
  ]) {
    rmSync(file, { force: true })
  }
}

/**
 * Stops a server: fast shutdown (SIGINT), after 10 s immediate (SIGQUIT), after 10 s more SIGKILL. Throws
 * when it has not ended after that.
 */
export async function stopServer(pid: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    signalProcess(pid, signal)
    if (await waitUntil(() => !isAlive(pid), 10_000, 5)) return
  }
  throw new Error(`PostgreSQL (process ${pid}) cannot be ended`)
}

function serversOf(cluster: string): number[] {
  return processIds().filter(pid => serves(pid, cluster))
}

function serves(pid: number, cluster: string): boolean {
  const server = processExecutable(pid)
  return server?.cwd === cluster && basename(server.exe) === 'postgres'
}
