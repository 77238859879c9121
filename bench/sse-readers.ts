import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { limits } from '../src/contract/limits.ts'
import { Database } from '../src/store/database.ts'
import { notifyRun } from '../src/store/notify.ts'
import { append } from '../src/store/runs/append.ts'
import { entry } from '../src/trace/entry.ts'
import { processorMs, residentMiB } from './processor.ts'
import { quantile } from './rate.ts'
import { recordMetric } from './report/metrics.ts'
import { startService } from './start-service.ts'

const RUNS = 20
const READERS = [20, 1_000, 5_000]
const SECONDS = 8
/** Of each run, between its entries. */
const EVERY_MS = 1_000
const padding = 'x'.repeat(700)

/**
 * Readers of the traces of 20 runs at one process of the service, each run with an entry of about 1 KB a
 * second: from the append to the reader, how much memory a reader takes, and how busy the process is.
 */
export async function sseReaders(): Promise<string> {
  await using service = await startService({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  await using db = new Database(service.database_url, { max: 8, on_error: () => {} })
  const organization_id = Number(/\d+$/.exec(service.url)?.[0])
  const runs: number[] = []
  for (let n = 0; n < RUNS; n++)
    runs.push(Number((await service.call('POST', '/agent/run', { prompt: 'A trace.', repoless: true })).id))

  // A user may have only a limited number open.
  const tokens: string[] = []
  while (tokens.length * limits.open_streams < Math.max(...READERS)) {
    const { id: user_id } = await service.call('POST', '/service-users', {
      name: `reader ${tokens.length}`,
      role: 'READER',
    })
    tokens.push(String((await service.call('POST', '/tokens', { name: 'reader', user_id })).token))
  }
  const lines = [
    `sse-readers: ${RUNS} runs, an entry of 1 KB each every ${EVERY_MS} ms; one process of the service`,
  ]
  const base = residentMiB(service.pid)
  let alone = Number.NaN
  /** Of each run: its prompt. */
  let entries = 1
  let last = { count: 0, kib: 0 }
  for (const count of READERS) {
    const delays: number[] = []
    const opening = processorMs(service.pid)
    const sockets: Socket[] = []
    // In waves: all at once would have some wait for a connection to the database for more than the two
    // seconds that a request may.
    while (sockets.length < count) {
      const wave = Array.from({ length: Math.min(200, count - sockets.length) }, (_, n) =>
        openReader(
          `${service.url}/agent/run/${runs[n % RUNS]}/events?after_seq=${entries}`,
          tokens[Math.floor((sockets.length + n) / limits.open_streams)] ?? '',
          ms => delays.push(ms),
        ),
      )
      sockets.push(...(await Promise.all(wave)))
    }
    await settled(service.pid)
    delays.length = 0
    const opened = processorMs(service.pid) - opening
    const busy = processorMs(service.pid)
    const started = performance.now()
    let written = 0
    for (let n = 0; n < (SECONDS * 1_000 * RUNS) / EVERY_MS; n++) {
      const run_id = runs[n % RUNS] ?? 0
      await append(db, organization_id, run_id, null, {
        entries: [entry({ message_type: 'PLAN_EVALUATION', thought: stamp() })],
      })
      await notifyRun(db, organization_id, run_id)
      written += 1
      await delay(Math.max(0, (n + 1) * (EVERY_MS / RUNS) - (performance.now() - started)))
    }
    entries += written / RUNS
    await delay(1_000)
    const cpu = (processorMs(service.pid) - busy) / (performance.now() - started)
    const expected = (written * count) / RUNS
    if (Number.isNaN(alone)) alone = quantile(delays, 0.5)
    const [middle, late] = [quantile(delays, 0.5), quantile(delays, 0.99)]
    const each = ((residentMiB(service.pid) - base) * 1024) / count
    lines.push(
      `  ${String(count).padStart(5)} readers  median ${middle.toFixed(1).padStart(7)} ms (${(middle / alone).toFixed(1)} × ${READERS[0]} readers)  p99 ${late.toFixed(1).padStart(7)} ms  ` +
        `${Math.round(delays.length / SECONDS)} frames/s, ${delays.length - expected === 0 ? 'none lost' : `${expected - delays.length} NOT ARRIVED`}  processor ${cpu.toFixed(2)}  to open ${(opened / count).toFixed(1)} ms and ${each.toFixed(0)} KiB a reader`,
    )
    if (count === 1_000) {
      recordMetric({
        name: '1,000 event-stream readers, p99',
        value: late,
        unit: 'ms',
        target: { at_most: 60 },
        floor: null,
      })
      recordMetric({
        name: 'memory of each of 1,000 event-stream readers',
        value: each,
        unit: 'KiB',
        target: { at_most: 40 },
        floor: null,
      })
    }
    // What does not belong to a reader, such as the space for young objects, grows with the first ones.
    const more = (each * count - last.kib) / (count - last.count)
    if (last.count === 1_000) {
      lines.push(`  each reader beyond 1,000: ${more.toFixed(0)} KiB`)
      recordMetric({
        name: 'memory of each further reader, up to 5,000',
        value: more,
        unit: 'KiB',
        target: { at_most: 40 },
        floor: null,
      })
    }
    last = { count, kib: each * count }
    for (const socket of sockets) socket.destroy()
    await delay(500)
  }
  lines.push('')
  return lines.join('\n')
}

/** Until the process has had nothing to do for half a second. */
async function settled(pid: number): Promise<void> {
  for (let before = -1, now = processorMs(pid); now - before > 30; before = now, now = processorMs(pid))
    await delay(500)
}

const stamp = () => `at ${performance.timeOrigin + performance.now()} ${padding}`

/** A reader that parses only the time in each entry, because it shares the machine with what is measured. */
function openReader(url: string, token: string, arrived: (ms: number) => void): Promise<Socket> {
  const { hostname, port, host, pathname, search } = new URL(url)
  let opened = false
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', reject)
    socket.on('connect', () =>
      socket.write(
        `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n`,
      ),
    )
    socket.setEncoding('latin1').on('data', text => {
      if (!opened && !String(text).startsWith('HTTP/1.1 200')) return reject(new Error(String(text)))
      opened = true
      resolve(socket)
      for (const [, at] of String(text).matchAll(/"thought":"at ([\d.]+) /g))
        arrived(performance.timeOrigin + performance.now() - Number(at))
    })
  })
}
