import { createHash } from 'node:crypto'
import { closeSync, constants, lstatSync, opendirSync, openSync } from 'node:fs'

/** Entries that are read in a few milliseconds. */
const MAX_ENTRIES = 1_000
const MAX_DEPTH = 64

/**
 * Returns the bytes of the largest entry of a folder, a blank, and a digest of the folder: the names and
 * numbers of the files in it and below, their sizes and their times of change, which only the kernel sets.
 * Two changes of a file within one tick of the kernel's clock (at most 10 ms) look like one. Changes the
 * working directory of this process. Throws when the folder has too many entries or cannot be read.
 */
export function folderState(folder: string): string {
  const found = { entries: [], largest_bytes: 0 }
  try {
    addFolder(folder, 0, found)
  } finally {
    process.chdir('/')
  }
  return `${found.largest_bytes} ${createHash('sha256').update(found.entries.join('\0')).digest('base64')}`
}

/**
 * Goes from folder to folder by descriptors: another process may replace a folder by a link at this moment.
 * The kernel finds names in the working directory twice as fast as paths.
 */
function addFolder(path: string, depth: number, found: { entries: string[]; largest_bytes: number }): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const here = `/proc/self/fd/${descriptor}`
    process.chdir(here)
    const folders: string[] = []
    using listed = opendirSync('.', { bufferSize: 128 })
    for (let entry = listed.readSync(); entry !== null; entry = listed.readSync()) {
      const { ino, size, ctimeMs } = lstatSync(entry.name)
      found.entries.push(`${depth} ${ino} ${size} ${ctimeMs} ${entry.name}`)
      found.largest_bytes = Math.max(found.largest_bytes, size)
      if (found.entries.length > MAX_ENTRIES || depth > MAX_DEPTH)
        throw new Error(`${path} has too many entries`)
      if (entry.isDirectory()) folders.push(entry.name)
    }
    for (const name of folders) addFolder(`${here}/${name}`, depth + 1, found)
  } finally {
    closeSync(descriptor)
  }
}
