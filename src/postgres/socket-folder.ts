import { mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createOwnFolder, handOver } from '../system/own-folder.ts'
import type { SystemUser } from '../system/users.ts'

const SOCKET = '.s.PGSQL.5432'
const temporary_prefix = 'agentrun-postgres-'
/** What the kernel allows in a socket address, its closing zero left out. */
const max_socket_path_bytes = 107

/**
 * Creates the folder for the socket, 0700 of the database user: who cannot enter it cannot connect, so there
 * is no password. Where the wanted path is too long for a socket address it is a fresh folder in the
 * temporary folder.
 */
export function createSocketFolder(wanted: string, user: SystemUser | null): string {
  if (Buffer.byteLength(join(wanted, SOCKET)) <= max_socket_path_bytes) {
    createOwnFolder(wanted, 0o700, user)
    return wanted
  }
  const folder = mkdtempSync(join(tmpdir(), temporary_prefix))
  handOver(folder, 0o700, user)
  return folder
}

/**
 * Removes the socket folder of an ended server if `createSocketFolder` put it into the temporary folder. The
 * name may come from a file that the database user writes, so nothing but an empty folder goes, and files of
 * the names that sockets have.
 */
export function removeTemporarySocketFolder(folder: string): void {
  if (dirname(folder) !== tmpdir() || !basename(folder).startsWith(temporary_prefix)) return
  for (const name of [SOCKET, `${SOCKET}.lock`]) rmSync(join(folder, name), { force: true })
  try {
    rmdirSync(folder)
  } catch {
    // Somebody else's by now, or not empty: nobody needs it to go.
  }
}

/** Returns a connection string that `pg` understands; the port is part of the socket's file name only. */
export function socketUrl(folder: string, user: string, database: string): string {
  return `postgres://${user}@localhost:5432/${database}?host=${encodeURIComponent(folder)}`
}
