import { readFileSync } from 'node:fs'
import { threadsOf } from './descendants.ts'
import { listOpenFiles, listWaitingSockets } from './list-open-files.ts'

const LIST_TIMEOUT_MS = 10_000
/** Each with its device, inode, blocks and path. */
const memfds = ['-lname', '/memfd:*', '-exec', 'stat', '-L', '-c', '%d:%i %b %n', '{}', '+']

/**
 * Returns the size of unnamed memory files, by the process that has them open; of several the first. Files
 * that cannot be read in time are omitted. No process has a file that waits in a socket: a process with such
 * a socket gets what is left of `shared_bytes`.
 */
export async function memfdBytes(processes: number[], shared_bytes: number): Promise<Map<number, number>> {
  const threads = processes.flatMap(pid => threadsOf(pid).map(thread => `/proc/${pid}/task/${thread}`))
  const open_files = threads.map(thread => `${thread}/fd`)
  const found = new Map<number, number>()
  const seen = new Set<string>()
  const { listed } = await listOpenFiles(open_files, [], memfds, LIST_TIMEOUT_MS)
  for (const line of listed.split('\n')) {
    const [file, blocks, path = ''] = line.split(' ')
    const pid = processOf(path)
    if (pid === 0 || file === undefined || seen.has(file)) continue
    seen.add(file)
    found.set(pid, (found.get(pid) ?? 0) + Number(blocks) * 512)
  }
  const waiting = processOf((await listWaitingSockets(threads, LIST_TIMEOUT_MS)).listed)
  const left = shared_bytes - [...found.values()].reduce((sum, bytes) => sum + bytes, 0)
  if (waiting !== 0 && left > 0) found.set(waiting, (found.get(waiting) ?? 0) + left)
  return found
}

const processOf = (path: string) => Number(/^\/proc\/(\d+)\//.exec(path)?.[1] ?? 0)

/** Returns the value for the whole machine. */
export function sharedMemoryBytes(): number {
  return 1024 * Number(/^Shmem:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0)
}
