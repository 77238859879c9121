import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { firstClosedFolder } from './folder-access.ts'
import type { SystemUser } from './users.ts'

/** The Node that sandboxes are shown: our own, or a copy below the data folder where the sandbox's user cannot enter the clone. */
export function sandboxNode(data_dir: string, user: SystemUser | null): string {
  if (firstClosedFolder(dirname(process.execPath), { service: user, sandbox: user }) === null) return process.execPath
  const folder = join(data_dir, 'node')
  const path = join(folder, `node-${process.version}`)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const draft = `${path}.${process.pid}`
  try {
    linkSync(process.execPath, draft)
  } catch {
    copyFileSync(process.execPath, draft)
    chmodSync(draft, 0o755)
  }
  renameSync(draft, path)
  return path
}
