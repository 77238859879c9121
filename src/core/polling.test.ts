import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startPolling } from './polling.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Work whose runs end when the test releases them. */
function heldWork() {
  const runs: PromiseWithResolvers<void>[] = []
  const work = () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  }
  const end = async (n: number) => {
    runs[n]?.resolve()
    await vi.advanceTimersByTimeAsync(0)
  }
  return { runs, work, end }
}

test('work never runs twice at once, and a wake during a run leads to exactly one more', async () => {
  const { runs, work, end } = heldWork()
  using polling = startPolling(10, 'work', work, () => {}, 'at once')
  await vi.advanceTimersByTimeAsync(35)
  expect(runs).toHaveLength(1)
  polling.wake()
  polling.wake()
  await end(0)
  expect(runs).toHaveLength(2)
  await end(1)
  expect(runs).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(10)
  expect(runs).toHaveLength(3)
})

test('a failure is logged and does not end the polling; after disposal nothing runs and nothing is logged', async () => {
  const logged: string[] = []
  const { runs, work } = heldWork()
  const polling = startPolling(10, 'the work', work, (_level, message) => logged.push(message))
  await vi.advanceTimersByTimeAsync(10)
  runs[0]?.reject(new Error('no'))
  await vi.advanceTimersByTimeAsync(10)
  expect(runs).toHaveLength(2)
  expect(logged).toEqual(['the work failed and will be retried'])
  polling[Symbol.dispose]()
  runs[1]?.reject(new Error('no'))
  polling.wake()
  await vi.advanceTimersByTimeAsync(50)
  expect([runs.length, logged.length]).toEqual([2, 1])
})
