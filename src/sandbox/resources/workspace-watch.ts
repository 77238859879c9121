import { statfs } from 'node:fs/promises'
import type { WorkspaceSize } from '../port.ts'

type WorkspaceBounds = { max_disk_bytes: number; max_files: number }

/** `peak_bytes`: the highest measured value; 0: not measured. */
type WorkspaceWatch = { peak_bytes(): number; end(): void }

const POLL_INTERVAL_MS = 250
/** An active sandbox is measured at least this often, and never for more than a sixtieth of the time. */
const MEASURE_EVERY_MS = 15_000
const MEASURE_SHARE = 60
/** CPU milliseconds since the last measurement: below it nothing can have written much. */
const IDLE_CPU_MS = 50

/**
 * Limits the size of a workspace on disk where there is no quota. The free space of the file system is polled
 * four times a second; when it has decreased by so much that this workspace could be the cause, the workspace
 * is measured. `over` is called when it exceeds a limit, and again each time it has grown. It cannot limit
 * what is written within a quarter of a second, or during a measurement.
 */
export function watchWorkspace(
  path: string,
  bounds: WorkspaceBounds,
  measure: () => Promise<WorkspaceSize | null>,
  cpuMs: () => number | null,
  over: (size: WorkspaceSize) => void,
): WorkspaceWatch {
  if (bounds.max_disk_bytes === Number.POSITIVE_INFINITY && bounds.max_files === Number.POSITIVE_INFINITY)
    return { peak_bytes: () => 0, end: () => {} }
  let ended = false
  let size: WorkspaceSize = { bytes: 0, files: 0 }
  let peak_bytes = 0
  let free: WorkspaceSize | null = null
  // Before anything inside has had time to write.
  const at_first = freeSpace(path).catch(() => null)
  let reported: WorkspaceSize | null = null
  let measure_at = performance.now() + MEASURE_EVERY_MS
  let cpu_then = cpuMs()

  const poll = async () => {
    const now = await freeSpace(path)
    free ??= (await at_first) ?? now
    const gone = { bytes: free.bytes - now.bytes, files: free.files - now.files }
    const near =
      gone.bytes > margin(bounds.max_disk_bytes, size.bytes) ||
      gone.files > margin(bounds.max_files, size.files)
    if (near || (performance.now() > measure_at && isBusy())) await measureWorkspace(now, gone)
  }
  const isBusy = () => {
    const cpu = cpuMs()
    return cpu === null || cpu_then === null || cpu - cpu_then > IDLE_CPU_MS
  }
  const measureWorkspace = async (now: WorkspaceSize, gone: WorkspaceSize) => {
    const began = performance.now()
    cpu_then = cpuMs()
    // When the files cannot be counted in time, for example because of millions of links, all missing free
    // space is attributed to the workspace.
    const found = (await measure()) ?? { bytes: size.bytes + gone.bytes, files: size.files + gone.files }
    measure_at = performance.now() + Math.max(MEASURE_EVERY_MS, MEASURE_SHARE * (performance.now() - began))
    free = now
    peak_bytes = Math.max(peak_bytes, found.bytes)
    if (ended) return
    size = found
    const beyond = found.bytes > bounds.max_disk_bytes || found.files > bounds.max_files
    if (!beyond) reported = null
    else if (reported === null || found.bytes > reported.bytes || found.files > reported.files) {
      reported = found
      over(found)
    }
  }
  const stopPolling = pollRepeatedly(poll)
  const end = () => {
    ended = true
    stopPolling()
  }
  return { peak_bytes: () => peak_bytes, end }
}

/**
 * Calls `poll` again and again, one call at a time; failures are ignored. Returns the function that stops it.
 */
function pollRepeatedly(poll: () => Promise<void>): () => void {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    if (stopped) return
    timer = setTimeout(
      () =>
        void poll()
          .catch(() => {})
          .then(next),
      POLL_INTERVAL_MS,
    )
    timer.unref()
  }
  next()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/** How much may be written without a measurement: a quarter of the rest, with a minimum. */
const margin = (max: number, used: number) => Math.max(max / 64, (max - used) / 4)

async function freeSpace(path: string): Promise<WorkspaceSize> {
  const { bfree, bsize, ffree } = await statfs(path)
  return { bytes: bfree * bsize, files: ffree }
}
