import { parentPort, workerData } from 'node:worker_threads'
import { hostileJson } from './hostile-json.ts'

/**
 * Sends every hostile text to every address of the service, several at once, from a thread of its own.
 * Reports the number of responses by status.
 */
const { targets, bytes } = workerData as {
  targets: { url: string; headers: Record<string, string>; before: string; after: string }[]
  bytes: number
}
const PARALLEL = 4

const statuses: Record<number, number> = {}
const waiting = hostileJson(bytes).flatMap(({ text }) => targets.map(target => ({ ...target, text })))
const send = async () => {
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { url, headers, before, after, text } = next
    // A service that refuses without reading closes the connection while the body is sent.
    const status = await fetch(url, { method: 'POST', headers, body: before + text + after }).then(
      async response => {
        await response.arrayBuffer()
        return response.status
      },
      () => 0,
    )
    statuses[status] = (statuses[status] ?? 0) + 1
  }
}
await Promise.all(Array.from({ length: PARALLEL }, send))
parentPort?.postMessage(statuses)
