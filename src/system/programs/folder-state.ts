import { createHash } from 'node:crypto'
import { closeSync, constants, lstatSync, opendirSync, openSync } from 'node:fs'

/** Entries that are read in a few milliseconds. */
const MAX_ENTRIES = 1_000
const MAX_DEPTH = 64

/**
 * Returns a digest of a folder: the names and numbers of the files in it and below, their sizes and their times of change, which only the kernel
 * sets. Two changes of a file within one tick of the kernel's clock (at most 10 ms) look like one. Changes the working directory of this process.
 * Throws when the folder has too many entries or cannot be read.
 */
export function folderState(folder: string): string {
  const entries: string[] = []
  try {
    addFolder(folder, 0, entries)
  } finally {
    process.chdir('/')
  }
  return createHash('sha256').update(entries.join('\0')).digest('base64')
}

/**
 * Goes from folder to folder by descriptors: another process may replace a folder by a link at this moment. The kernel finds names in the
 * working directory twice as fast as paths.
 */
function addFolder(path: string, depth: number, entries: string[]): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const here = `/proc/self/fd/${descriptor}`
    process.chdir(here)
    const folders: string[] = []
    using listed = opendirSync('.', { bufferSize: 128 })
    for (let entry = listed.readSync(); entry !== null; entry = listed.readSync()) {
      const { ino, size, ctimeMs } = lstatSync(entry.name)
      entries.push(`${depth} ${ino} ${size} ${ctimeMs} ${entry.name}`)
      if (entries.length > MAX_ENTRIES || depth > MAX_DEPTH) throw new Error(`${path} has too many entries`)
      if (entry.isDirectory()) folders.push(entry.name)
    }
    for (const name of folders) addFolder(`${here}/${name}`, depth + 1, entries)
  } finally {
    closeSync(descriptor)
  }
}
