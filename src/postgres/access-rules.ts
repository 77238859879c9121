import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SystemUser } from '../system/users.ts'
import { database_name } from './cluster.ts'

const MAP = 'service'

/**
 * Writes who may connect, into files that the database user can read and not change, and returns the server's
 * arguments for them. The kernel reports to the server which user is at the other end of its socket: only
 * root, as which the service runs, is the database's superuser. `user` null: service and server are one user,
 * and the folder of the socket is open to that one alone.
 */
export function accessArguments(data_dir: string, user: SystemUser | null, root_name: string): string[] {
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
