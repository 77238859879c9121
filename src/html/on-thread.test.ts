import { expect, it } from 'vitest'
import { createThreads } from './on-thread.ts'

const threadOf = (script: string) =>
  createThreads<null, string>(
    new URL(
      `data:text/javascript,${encodeURIComponent(`import { parentPort } from 'node:worker_threads';${script}`)}`,
    ),
    { max_threads: 2, timeout_ms: script === 'for (;;);' ? 100 : 60_000 },
  )

it.each([
  ['for (;;);', 'timeout', 'no result after 100 ms'],
  ['const all = []; for (;;) all.push(Array(1e5).fill(all.length))', 'memory', 'memory limit'],
  ["throw new Error('it broke')", 'error', 'it broke'],
  ['process.exit(3)', 'error', 'ended with code 3'],
])('a thread without a result is reported with its reason: %s', async (script, why, error) => {
  const end = await threadOf(script)(null, 1)
  expect(end).toEqual({ ok: false, why, error: expect.stringContaining(error) })
})

it('a thread with a result is reported with it', async () => {
  expect(await threadOf("parentPort.postMessage('done')")(null, 1)).toEqual({ ok: true, value: 'done' })
})
