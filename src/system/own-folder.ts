import { chmodSync, closeSync, constants, fchmodSync, fchownSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SystemUser } from './users.ts'

/**
 * Makes a folder with exactly this mode and owner (null: ourselves), or corrects one that exists. Missing
 * parents get 0755, whatever the umask: `mkdir` with `recursive` and `mode` would give the mode to them too
 * and shut other users out. The parent must belong to root or to ourselves. Throws when the path is a link.
 */
export function createOwnFolder(path: string, mode: number, owner: SystemUser | null): void {
  let first_created = mkdirSync(dirname(path), { recursive: true })
  for (let parent = dirname(path); first_created; parent = dirname(parent)) {
    chmodSync(parent, 0o755)
    if (parent === first_created) first_created = undefined
  }
  mkdirSync(path, { recursive: true })
  handOver(path, mode, owner)
}

/** Gives an existing folder exactly this mode and owner. Throws when the path is a link. */
export function handOver(path: string, mode: number, owner: SystemUser | null): void {
  // By descriptor and not through a link: the owner of the parent must not be able to redirect this to
  // another folder.
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    if (owner) fchownSync(folder, owner.uid, owner.gid)
    else if (process.getuid?.() === 0) fchownSync(folder, 0, 0)
    fchmodSync(folder, mode)
  } finally {
    closeSync(folder)
  }
}
