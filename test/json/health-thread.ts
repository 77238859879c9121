import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * Requests `/healthz` again and again, from a thread of its own. Between requests it measures how much longer
 * than its processor time a fixed piece of work takes here: `contention` is 1 on a machine that does nothing
 * else, and n if n threads share each processor. Reports the longest response in ms and the number of
 * responses when it gets a message.
 */
const { base_url } = workerData as { base_url: string }
const RESPONSES_BETWEEN = 20
const WORK_MS = 5

const seen = { longest_ms: 0, responses: 0, contention: 1 }
const spent = { wall_ms: 0, work_ms: 0 }
const agent = new Agent({ keepAlive: true })
const request = () =>
  new Promise<void>((resolve, reject) =>
    get(`${base_url}/healthz`, { agent }, response => response.resume().on('end', resolve)).on(
      'error',
      reject,
    ),
  )

const processorMs = () => process.threadCpuUsage().user / 1_000

function work(): void {
  const [began, from] = [performance.now(), processorMs()]
  while (processorMs() - from < WORK_MS);
  spent.wall_ms += performance.now() - began
  spent.work_ms += processorMs() - from
  seen.contention = Math.max(1, spent.wall_ms / spent.work_ms)
}

parentPort?.on('message', () => parentPort?.postMessage(seen))
for (;;) {
  const began = performance.now()
  await request()
  seen.longest_ms = Math.max(seen.longest_ms, performance.now() - began)
  if (++seen.responses % RESPONSES_BETWEEN === 0) work()
}
