import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { GitHost } from '../process/git-host.ts'
import { createUploads } from './uploads.ts'

const home = mkdtempSync(join(tmpdir(), 'agentrun-uploads-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const sender = { organization_id: 1, user_id: 1 }
const receive = createUploads({ home, max_push_bytes: 1024 ** 2 } as GitHost)

/** `bytes` each second. */
async function* bodyOf(bytes: number, seconds: number): AsyncGenerator<Buffer> {
  for (let second = 0; second < seconds; second++) {
    vi.advanceTimersByTime(1_000)
    yield Buffer.alloc(bytes)
  }
}

test('a body that arrives too slowly is refused after half a minute, and leaves no file', async () => {
  let sent = 0
  const counted = async function* () {
    for await (const piece of bodyOf(8_000, 60)) {
      sent++
      yield piece
    }
  }
  await expect(receive(counted(), sender, 1024 ** 2)).rejects.toMatchObject({ code: 'timeout' })
  expect(sent).toBe(31)
  expect(readdirSync(join(home, 'uploads'))).toEqual([])
})

test('of a body that is larger than allowed, twice that is read and once that is kept', async () => {
  const [bytes, max_bytes] = [50_000, 100_000]
  let sent = 0
  const counted = async function* () {
    for await (const piece of bodyOf(bytes, 100)) {
      sent++
      yield piece
    }
  }
  await using upload = await receive(counted(), sender, max_bytes)
  expect(upload).toMatchObject({ bytes: max_bytes, is_whole: false })
  expect(statSync(upload.path).size).toBe(max_bytes)
  expect(sent).toBe(5)
})

test('a body that arrives just fast enough is received, and one of any pace within half a minute', async () => {
  for (const [bytes, seconds] of [
    [8_192, 60],
    [1, 30],
  ] as const) {
    await using upload = await receive(bodyOf(bytes, seconds), sender, 1024 ** 2)
    expect(upload).toMatchObject({ bytes: bytes * seconds, is_whole: true })
  }
})
