import { readFileSync } from 'node:fs'
import { niceCommand } from '../../system/programs/nice-program.ts'
import { runCommand } from '../../system/programs/run-program.ts'
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

/** In a separate program: there may be a million descriptors. Processes end meanwhile, so it may report errors. */
async function listMemfds(folders: string[]): Promise<string> {
  const resolve_list = ['-exec', 'stat', '-L', '-c', '%d:%i %b %n', '{}', '+']
  const find = ['/usr/bin/find', ...folders, '-mindepth', '1', '-maxdepth', '1', '-lname', '/memfd:*', ...resolve_list]
  const { stdout } = await runCommand({ ...niceCommand(find), timeout_ms: LIST_TIMEOUT_MS, max_output_bytes: MAX_OUTPUT_BYTES }).done
  return stdout.toString()
}

/** Returns the value for the whole machine. */
export function sharedMemoryBytes(): number {
  return 1024 * Number(/^Shmem:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0)
}
