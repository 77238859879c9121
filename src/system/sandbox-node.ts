import { chmodSync, copyFileSync, cpSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { firstClosedFolder } from './folder-access.ts'
import type { SystemUser } from './users.ts'

/**
 * The Node that sandboxes are shown: our own, or a copy below the data folder where the sandbox's user cannot enter the clone. Its headers, if
 * it has any, are where they always are beside it.
 */
export function sandboxNode(data_dir: string, user: SystemUser | null): string {
  if (firstClosedFolder(dirname(process.execPath), { service: user, sandbox: user }) === null) return process.execPath
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
    chmodSync(join(draft, 'bin/node'), 0o755)
  }
  const headers = join(dirname(dirname(process.execPath)), 'include/node')
  if (existsSync(headers)) cpSync(headers, join(draft, 'include/node'), { recursive: true, dereference: true })
  try {
    renameSync(draft, folder)
  } catch (error) {
    // Another process was faster.
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(path)) throw error
  }
  return path
}
