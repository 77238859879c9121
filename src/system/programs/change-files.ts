import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A change to files, without a program. `create`: folders, 0750, in this order; those that exist stay as they are. `replace`: writes a file,
 * 0640, under the name `through` and renames it to `path`: another process may be reading or writing it at this moment. `move`: files from
 * one folder into another, in this order.
 */
export type FileChange =
  | { kind: 'create'; folders: string[] }
  | { kind: 'replace'; path: string; through: string; text: string }
  | { kind: 'move'; from: string; to: string; names: string[] }

/** Applies the change as the user of this process. Throws the file system's error. */
export function changeFiles(change: FileChange): void {
  if (change.kind === 'replace') {
    writeFileSync(change.through, change.text, { mode: 0o640, flag: 'wx' })
    renameSync(change.through, change.path)
  } else if (change.kind === 'move') {
    for (const name of change.names) renameSync(join(change.from, name), join(change.to, name))
  } else {
    for (const folder of change.folders) if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, 0o750)
  }
}

/**
 * Calls `work`, which must not wait for anything, with the effective user and groups of an account. Only in a process that runs nothing else
 * meanwhile: all its threads change. A process that cannot change back ends.
 */
export function asUser(user: { uid: number; gid: number }, work: () => void): void {
  const [uid, gid, groups] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0, process.getgroups?.() ?? []]
  try {
    process.setgroups?.([])
    process.setegid?.(user.gid)
    process.seteuid?.(user.uid)
    work()
  } finally {
    try {
      process.seteuid?.(uid)
      process.setegid?.(gid)
      process.setgroups?.(groups)
    } catch {
      process.exit(1)
    }
  }
}
