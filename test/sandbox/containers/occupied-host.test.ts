import { closeSync, constants, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openControl } from '../../../src/sandbox/containers/control.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

/** What waits in a pipe; null: nothing waits, and it has writers. */
function readWaiting(pipe: number): string | null {
  const buffer = Buffer.alloc(4096)
  try {
    return buffer.toString('utf8', 0, readSync(pipe, buffer))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null
    throw error
  }
}

test('process 1 of a container hears from a host whose event loop is occupied, and sees the end of its requests', async () => {
  using folder = temporaryFolder()
  const control = await openControl(folder.path, false, {})
  const requests = openSync(join(folder.path, 'control.requests'), constants.O_RDONLY | constants.O_NONBLOCK)
  // The thread has begun.
  await expect.poll(() => readWaiting(requests), { timeout: 20_000 }).toMatch(/^\./)
  for (const end = performance.now() + 4_500; performance.now() < end; );
  expect(readWaiting(requests)?.length).toBeGreaterThanOrEqual('.\n.\n'.length)
  control.close()
  await expect.poll(() => readWaiting(requests), { timeout: 20_000 }).toBe('')
  closeSync(requests)
})
