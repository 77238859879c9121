import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * The service as `npm start` runs it, and a probe: each connection to the socket at HOSTILE_PROBE gets one
 * line of JSON, measured after a full collection of garbage.
 */
const probe_path = process.env.HOSTILE_PROBE
if (probe_path === undefined) throw new Error('HOSTILE_PROBE is the path of the socket of the probe')
delete process.env.HOSTILE_PROBE
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

// Processor time of this thread between two turns of its event loop, because the machine may be busy with
// other things.
const spent = () => process.threadCpuUsage().user / 1_000
let last = spent()
let longest_stall_ms = 0
let has_measured = false
const timer = setInterval(() => {
  longest_stall_ms = Math.max(longest_stall_ms, spent() - last)
  last = spent()
}, 1)
timer.unref()

/** What the descriptors of this process lead to, without the one that lists them. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap(name => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)]
    } catch {
      return []
    }
  })
}

/** The longest stall is that since the first measurement, because a start loads all code. */
function measurement() {
  if (!has_measured) longest_stall_ms = 0
  has_measured = true
  const before_collection = longest_stall_ms
  collectGarbage()
  collectGarbage()
  // The collections above are not work of the service.
  last = spent()
  const { rss, heapUsed, external } = process.memoryUsage()
  const files = openFiles()
  const count = (name: string) => files.filter(file => file === `anon_inode:[${name}]`).length
  const event_loops = count('eventpoll')
  return {
    pid: process.pid,
    rss,
    heap: heapUsed,
    external,
    descriptors: files.length,
    event_loops,
    // Each has two ends of a pipe too.
    descriptors_of_loops: event_loops + count('eventfd') + count('io_uring') + 2 * event_loops,
    longest_stall_ms: before_collection,
  }
}

const server = createServer(socket => socket.on('error', () => {}).end(`${JSON.stringify(measurement())}\n`))
server.listen(probe_path).unref()
await import('../../src/main.ts')
