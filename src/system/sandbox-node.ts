import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { firstClosedFolder } from './folder-access.ts'
import type { SystemUser } from './users.ts'

/**
 * Returns the Node that sandboxes are shown: our own, or a copy below the data folder where the sandbox's
 * user cannot enter the clone. Its headers, if it has any, are where they always are beside it.
 */
export function sandboxNode(data_dir: string, user: SystemUser | null): string {
  if (firstClosedFolder(dirname(process.execPath), { service: null, database: null, sandbox: user }) === null)
    return process.execPath
  const folder = join(data_dir, 'node', process.version)
  const path = join(folder, 'bin/node')
  if (existsSync(path)) return path
  const draft = `${folder}.${process.pid}`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(join(draft, 'bin'), { recursive: true, mode: 0o755 })
  try {
    linkSync(process.execPath, join(draft, 'bin/node'))
  } catch {
    copyFileSync(process.execPath, join(draft, 'bin/node'))
  }
  const headers = join(dirname(dirname(process.execPath)), 'include/node')
  if (existsSync(headers))
    cpSync(headers, join(draft, 'include/node'), { recursive: true, dereference: true })
  // Whatever the mask of this process: the sandbox's user reads it.
  for (const one of [
    join(data_dir, 'node'),
    draft,
    ...readdirSync(draft, { recursive: true, encoding: 'utf8' }).map(name => join(draft, name)),
  ])
    chmodSync(one, statSync(one).isDirectory() || one.endsWith('bin/node') ? 0o755 : 0o644)
  try {
    renameSync(draft, folder)
  } catch (error) {
    // Another process was faster.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(path)) throw error
  }
  return path
}
