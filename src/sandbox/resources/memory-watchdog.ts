import { readFileSync } from 'node:fs'
import { signalProcess } from '../../system/processes.ts'
import type { ResourceGroup } from './bounds.ts'
import { childrenOf, descendantsOf, threadsOf } from './descendants.ts'
import { listOpenFiles, listWaitingSockets } from './list-open-files.ts'

const SLOW_MS = 500
const FAST_MS = 100
/** Above this part of the limit it polls more often. */
const NEAR = 0.5
/** When the machine's shared memory has grown by this part of the limit, a process may hold files in it. */
const SHARED = 0.1

type Process = { pid: number; bytes: number }

/**
 * Limits the memory of a sandbox where the kernel does not: adds up the private memory of its processes, and
 * kills the largest while the sum exceeds `max_bytes`. It cannot limit what grows by gigabytes within a tenth
 * of a second.
 */
export function openWatchdog(max_bytes: number): ResourceGroup {
  let root: number | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false
  const shared_then = sharedMemoryBytes()
  let files = new Map<number, number>()
  let counting = false
  const countFiles = (pids: number[], shared_bytes: number) => {
    counting = true
    void memfdBytes(pids, shared_bytes).then(found => {
      files = found
      counting = false
    })
  }
  const used = { memory_bytes: 0, peak_memory_bytes: 0, memory_kills: 0, cpu_ms: null }

  const poll = () => {
    if (closed || root === null) return
    const processes = family(root, files)
    const shared_bytes = sharedMemoryBytes() - shared_then
    if (!counting && shared_bytes > max_bytes * SHARED)
      countFiles(
        processes.map(({ pid }) => pid),
        shared_bytes,
      )
    let bytes = processes.reduce((sum, process) => sum + process.bytes, 0)
    used.memory_bytes = bytes
    used.peak_memory_bytes = Math.max(used.peak_memory_bytes, bytes)
    for (const process of processes.toSorted((a, b) => b.bytes - a.bytes)) {
      if (bytes <= max_bytes) break
      signalProcess(process.pid, 'SIGKILL')
      used.memory_kills += 1
      bytes -= process.bytes
    }
    timer = setTimeout(poll, bytes > max_bytes * NEAR ? FAST_MS : SLOW_MS)
    timer.unref()
  }
  return {
    async add(pid) {
      root = pid
      poll()
    },
    usage: () => ({ ...used }),
    async close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/**
 * Returns the descendants of bubblewrap, with their private memory, including memory files. Excludes
 * bubblewrap and process 1 inside: everything inside would end with them.
 */
function family(bubblewrap: number, files: ReadonlyMap<number, number>): Process[] {
  const [first] = childrenOf(bubblewrap)
  return (first === undefined ? [] : descendantsOf(first)).map(pid => ({
    pid,
    bytes: ownBytes(pid, files.get(pid) ?? 0),
  }))
}

/**
 * Returns anonymous and shared resident pages, or those of unmapped memory files; other files are the
 * machine's cache.
 */
function ownBytes(pid: number, file_bytes: number): number {
  const status = read(`/proc/${pid}/status`)
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0)
  return 1024 * kib('RssAnon') + Math.max(1024 * kib('RssShmem'), file_bytes)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const LIST_TIMEOUT_MS = 10_000
/** Each with its device, inode, blocks and path. */
const memfds = ['-lname', '/memfd:*', '-exec', 'stat', '-L', '-c', '%d:%i %b %n', '{}', '+']

/**
 * Returns the size of unnamed memory files, by the process that has them open; of several the first. Files
 * that cannot be read in time are omitted. No process has a file that waits in a socket: a process with such
 * a socket gets what is left of `shared_bytes`.
 */
async function memfdBytes(processes: number[], shared_bytes: number): Promise<Map<number, number>> {
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
function sharedMemoryBytes(): number {
  return 1024 * Number(/^Shmem:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0)
}
