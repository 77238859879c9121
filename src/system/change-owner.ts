import { closeSync, constants, fchownSync, fstatSync, openSync, readdirSync } from 'node:fs'
import type { SystemUser } from './users.ts'

/** Without waiting for the other end of a pipe, and not through a link. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

/**
 * Gives what belongs to the user with the id `from` at `path` and below it to `to`; the top comes last, so
 * that an interrupted call shows. Only what a descriptor proves to be that user's changes its owner, so that
 * links which that user puts there lead to nothing else. Throws the file system's error.
 */
export function changeOwner(path: string, from: number, to: SystemUser): void {
  const file = openFile(path)
  if (file === null) return
  try {
    const found = fstatSync(file)
    const inside = `/proc/self/fd/${file}`
    if (found.isDirectory())
      for (const name of readdirSync(inside)) changeOwner(`${inside}/${name}`, from, to)
    if (found.uid === from) fchownSync(file, to.uid, to.gid)
  } finally {
    closeSync(file)
  }
}

/** Null: a link or a socket, or it is gone. */
function openFile(path: string): number | null {
  try {
    return openSync(path, FLAGS)
  } catch (error) {
    if (['ELOOP', 'ENXIO', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}
