import { readFileSync } from 'node:fs'
import { signalProcess } from '../../system/processes.ts'
import type { ResourceGroup } from './bounds.ts'
import { childrenOf, descendantsOf } from './descendants.ts'
import { memfdBytes, sharedMemoryBytes } from './memfds.ts'

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
