import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeOwnFolder } from '../system/own-folder.ts'
import type { SystemUser } from '../system/users.ts'

const temporary_prefix = 'agentrun-postgres-'
/** What the kernel allows in a socket address, its closing zero left out. */
const max_socket_path_bytes = 107

/**
 * The folder for the socket, 0700 of the database user: who cannot enter it cannot connect, so there is no password.
 * Where the wanted path is too long for a socket address it is a fresh folder in the temporary folder.
 */
export function makeSocketFolder(wanted: string, user: SystemUser | null): string {
  if (Buffer.byteLength(join(wanted, '.s.PGSQL.5432')) <= max_socket_path_bytes) {
    makeOwnFolder(wanted, 0o700, user)
    return wanted
  }
  const folder = mkdtempSync(join(tmpdir(), temporary_prefix))
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  return folder
}

/** Removes the socket folder of an ended server if `makeSocketFolder` put it into the temporary folder. */
export function removeTemporarySocketFolder(folder: string): void {
  if (folder.startsWith(join(tmpdir(), temporary_prefix))) rmSync(folder, { recursive: true, force: true })
}

/** A connection string that `pg` understands; the port is part of the socket's file name only. */
export function socketUrl(folder: string, user: string, database: string): string {
  return `postgres://${user}@localhost:5432/${database}?host=${encodeURIComponent(folder)}`
}
