import { Worker } from 'node:worker_threads'

/**
 * Loaded into a process before the service: `JSON.parse` of a text with "occupy N seconds" occupies its
 * thread for this time, once, as an expensive text does. All of it uses the processor, also on a busy
 * machine. "starve" instead: the thread gets no processor time, while another one of the process works.
 * "hoard" instead: the thread takes much memory, and hardly works. "exhaust": it takes memory until V8 ends
 * the process, each time.
 */
const MIN_CPU_MS = 2_500
const HOARD_BYTES = 768 * 2 ** 20
const other_thread = `for (const end = performance.now() + Number(process.env.STARVED_MS); performance.now() < end; );`
const wait = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const hoarded: Buffer[] = []

const occupations: Record<string, (ms: number) => void> = {
  occupy(ms) {
    const [until, before] = [performance.now() + ms, process.cpuUsage()]
    const cpuMs = () => {
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000
    }
    while (performance.now() < until || cpuMs() < MIN_CPU_MS);
  },
  starve(ms) {
    new Worker(other_thread, { eval: true, execArgv: [], env: { STARVED_MS: String(ms) } }).unref()
    wait(ms)
  },
  hoard(ms) {
    hoarded.push(Buffer.alloc(HOARD_BYTES, 1))
    wait(ms)
    hoarded.pop()
  },
  exhaust() {
    for (const all: number[][] = []; ; ) all.push(new Array(100_000).fill(all.length + 0.5))
  },
}
const { parse } = JSON
const done = new Set<string>()

JSON.parse = (text, reviver) => {
  const [words, how, seconds] = /(occupy|starve|hoard|exhaust) (\d+) seconds/.exec(text) ?? []
  if (words !== undefined && how !== undefined && !done.has(words)) {
    done.add(words)
    occupations[how]?.(Number(seconds) * 1_000)
  }
  return parse(text, reviver)
}
