import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { startBareStream } from './bare-stream.ts'

const BUFFER = 64 * 1024

const startStream = (stall_ms: number) =>
  startBareStream({ heartbeat_ms: 60_000, buffer_bytes: BUFFER, stall_ms })

/** Reads until the stream has sent that id. */
function readTo(socket: Socket, id: number): Promise<number[]> {
  let text = ''
  return new Promise((resolve, reject) => {
    socket.on('close', () => reject(new Error('cut off')))
    socket.on('data', bytes => {
      text += bytes.toString('latin1').replaceAll(/x+/g, '')
      if (text.includes(`\nid: ${id}\n`))
        resolve([...text.matchAll(/id: (\d+)\n/g)].map(match => Number(match[1])))
    })
  })
}

/** The most bytes that waited for a reader until it was cut off. */
async function mostWaiting(response: ServerResponse): Promise<number> {
  let most = 0
  while (!response.destroyed) {
    most = Math.max(most, response.writableLength)
    await new Promise(resolve => setImmediate(resolve))
  }
  return most
}
const range = (to: number) => Array.from({ length: to }, (_, i) => i + 1)

test('for a reader that does not read, at most the limit and one frame are buffered; then it is cut, without effect on others', async () => {
  await using stream = await startStream(300)
  const slow = await stream.connect()
  slow.pause()
  const quick = await stream.connect()
  const read = readTo(quick, 2_000)
  const waited = mostWaiting(stream.responses[0] as ServerResponse)
  stream.grow(2_000, 16 * 1024)
  expect(await read).toEqual(range(2_000))
  expect(await waited).toBeGreaterThan(BUFFER)
  expect(await waited).toBeLessThan(BUFFER + 20 * 1024)
  expect(quick.destroyed).toBe(false)
  stream.grow(1, 1)
  quick.destroy()
  slow.destroy()
})

test('a reader that continues, however late, gets everything', async () => {
  await using stream = await startStream(30_000)
  const reader = await stream.connect()
  reader.pause()
  const first = stream.responses[0] as ServerResponse
  stream.grow(2_000, 8 * 1024)
  while (first.writableLength <= BUFFER) await new Promise(resolve => setImmediate(resolve))
  stream.grow(100, 8 * 1024)
  const read = readTo(reader, 2_100)
  reader.resume()
  expect(await read).toEqual(range(2_100))
})

test('a frame that is larger than the limit arrives', async () => {
  await using stream = await startStream(5_000)
  const reader = await stream.connect()
  const read = readTo(reader, 3)
  stream.grow(2, 40 * BUFFER)
  stream.grow(1, 1)
  expect(await read).toEqual([1, 2, 3])
})
