import { chmodSync, lstatSync, mkdirSync, opendirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A change to files, without a program. `create`: folders, 0750, in this order; those that exist stay as they
 * are. `replace`: writes a file, 0640, under the name `through` and renames it to `path`: another process may
 * be reading or writing it at this moment. `move`: files from one folder into another, in this order.
 * `remove`: a file, or a folder with everything in it; nothing of a large one, which would keep this process
 * from other work.
 */
export type FileChange =
  | { kind: 'create'; folders: string[] }
  | { kind: 'replace'; path: string; through: string; text: string }
  | { kind: 'move'; from: string; to: string; names: string[] }
  | { kind: 'remove'; path: string }

/** Applies the change as the user of this process. Throws the file system's error. */
export function changeFiles(change: FileChange): void {
  if (change.kind === 'replace') {
    writeFileSync(change.through, change.text, { mode: 0o640, flag: 'wx' })
    renameSync(change.through, change.path)
  } else if (change.kind === 'move') {
    for (const name of change.names) renameSync(join(change.from, name), join(change.to, name))
  } else if (change.kind === 'remove') {
    removeSmall(change.path)
  } else {
    for (const folder of change.folders)
      if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, 0o750)
  }
}

/** The entries that are removed in a few milliseconds. */
const MAX_REMOVED = 200

function removeSmall(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory() && withoutEntries(path, MAX_REMOVED) < 0)
    throw new Error(`${path} has more than ${MAX_REMOVED} entries`)
  rmSync(path, { recursive: true, force: true })
}

/** Returns `budget` minus the entries of a folder and of those in it; stops counting below 0. */
function withoutEntries(folder: string, budget: number): number {
  let rest = budget
  using listed = opendirSync(folder)
  for (let entry = listed.readSync(); entry !== null && rest >= 0; entry = listed.readSync())
    rest = entry.isDirectory() ? withoutEntries(join(folder, entry.name), rest - 1) : rest - 1
  return rest
}

/**
 * Returns what `work` returns, which must not wait for anything, with the effective user and groups of an
 * account. Only in a process that runs nothing else meanwhile: all its threads change. A process that cannot
 * change back ends.
 */
export function asUser<T>(user: { uid: number; gid: number }, work: () => T): T {
  const [uid, gid, groups] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0, process.getgroups?.() ?? []]
  try {
    process.setgroups?.([])
    process.setegid?.(user.gid)
    process.seteuid?.(user.uid)
    return work()
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
