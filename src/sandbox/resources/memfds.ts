import { readFileSync } from 'node:fs'
import { threadsOf } from './descendants.ts'
import { listOpenFiles } from './list-open-files.ts'

const LIST_TIMEOUT_MS = 10_000
/** Each with its device, inode, blocks and path. */
const memfds = ['-lname', '/memfd:*', '-exec', 'stat', '-L', '-c', '%d:%i %b %n', '{}', '+']

/**
 * Returns the size of unnamed memory files, by the process that has them open; of several the first. Files that cannot be read in time are
 * omitted.
 */
export async function memfdBytes(processes: number[]): Promise<Map<number, number>> {
  const open_files = processes.flatMap(pid => threadsOf(pid).map(thread => `/proc/${pid}/task/${thread}/fd`))
  const found = new Map<number, number>()
  const seen = new Set<string>()
  const { listed } = await listOpenFiles(open_files, [], memfds, LIST_TIMEOUT_MS)
  for (const line of listed.split('\n')) {
    const [file, blocks, path = ''] = line.split(' ')
    const pid = Number(/^\/proc\/(\d+)\//.exec(path)?.[1] ?? 0)
    if (pid === 0 || file === undefined || seen.has(file)) continue
    seen.add(file)
    found.set(pid, (found.get(pid) ?? 0) + Number(blocks) * 512)
  }
  return found
}

/** Returns the value for the whole machine. */
export function sharedMemoryBytes(): number {
  return 1024 * Number(/^Shmem:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0)
}
