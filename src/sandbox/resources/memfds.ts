import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { childEnv } from '../../system/host-child-env.ts'
import { threadsOf } from './descendants.ts'

const LIST_TIMEOUT_MS = 10_000
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2

/**
 * Returns the size of unnamed memory files, by the process that has them open; of several the first. Files that cannot be read in time are
 * omitted.
 */
export async function memfdBytes(processes: number[]): Promise<Map<number, number>> {
  const open_files = processes.flatMap(pid => threadsOf(pid).map(thread => `/proc/${pid}/task/${thread}/fd`))
  const found = new Map<number, number>()
  const seen = new Set<string>()
  for (const line of open_files.length === 0 ? [] : (await listMemfds(open_files)).split('\n')) {
    const [file, blocks, path = ''] = line.split(' ')
    const pid = Number(/^\/proc\/(\d+)\//.exec(path)?.[1] ?? 0)
    if (pid === 0 || file === undefined || seen.has(file)) continue
    seen.add(file)
    found.set(pid, (found.get(pid) ?? 0) + Number(blocks) * 512)
  }
  return found
}

/** In a separate program: there may be a million descriptors. */
function listMemfds(folders: string[]): Promise<string> {
  const resolve_list = ['-exec', 'stat', '-L', '-c', '%d:%i %b %n', '{}', '+']
  const args = ['-n', '10', '/usr/bin/find', ...folders, '-mindepth', '1', '-maxdepth', '1', '-lname', '/memfd:*', ...resolve_list]
  const options = { cwd: '/', env: childEnv(), timeout: LIST_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES }
  // Processes end meanwhile, so it may report errors.
  return new Promise(resolve => execFile('/usr/bin/nice', args, options, (_error, output) => resolve(output)))
}

/** Returns the value for the whole machine. */
export function sharedMemoryBytes(): number {
  return 1024 * Number(/^Shmem:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0)
}
