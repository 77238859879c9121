import { statSync } from 'node:fs'
import type { WorkspaceSize } from '../port.ts'
import { descendantsOf, threadsOf } from './descendants.ts'
import { listOpenFiles, listWaitingSockets } from './list-open-files.ts'

const LIST_TIMEOUT_MS = 20_000
/** Each with its device, inode and blocks. */
const deleted = ['-type', 'f', '-links', '0', '-printf', '%D %i %b\\n']

/**
 * Returns the size of deleted files that descendants of `process_1` have open or mapped: they are on the disk
 * of `folders`, where no listing shows them. Files that are only mapped are visible to root alone. Null when
 * the size cannot be determined: there was not enough time, or descriptors wait in a socket, where no process
 * has them.
 */
export async function deletedFiles(process_1: number, folders: string[]): Promise<WorkspaceSize | null> {
  const processes = process_1 > 0 ? descendantsOf(process_1) : []
  // Threads may have files of their own. Without root there would be an error for each mapped file.
  const threads = processes.flatMap(pid => threadsOf(pid).map(thread => `/proc/${pid}/task/${thread}`))
  const maps = process.getuid?.() === 0 ? processes.map(pid => `/proc/${pid}/map_files`) : []
  const open_files = [...maps, ...threads.map(thread => `${thread}/fd`)]
  if (open_files.length === 0) return { bytes: 0, files: 0 }
  const [{ listed, complete }, waiting] = await Promise.all([
    listOpenFiles(open_files, ['-L'], deleted, LIST_TIMEOUT_MS),
    listWaitingSockets(threads, LIST_TIMEOUT_MS),
  ])
  if (!complete || !waiting.complete || waiting.listed !== '') return null
  // As the sandbox sees it, where its workspace is a layer.
  const devices = new Set(
    [...folders, ...processes.map(pid => `/proc/${pid}/root/workspace`)].flatMap(deviceOf),
  )
  const files = new Map(
    listed.split('\n').flatMap((line): [string, number][] => {
      const [device = '', inode = '', blocks = ''] = line.split(' ')
      return devices.has(device) ? [[`${device} ${inode}`, Number(blocks) * 512]] : []
    }),
  )
  return { bytes: [...files.values()].reduce((sum, bytes) => sum + bytes, 0), files: files.size }
}

function deviceOf(path: string): string[] {
  try {
    return [String(statSync(path).dev)]
  } catch {
    return []
  }
}
