import { expect, onTestFinished, test, vi } from 'vitest'
import { Starts } from './starts.ts'

const NEVER = 2 ** 30
const free = new AbortController().signal

/** Starts of runs of these ages, which end by `end`. `running`: the ages of those that work now. */
async function begin(starts: Starts, ages: number[], signals: Record<number, AbortSignal> = {}) {
  const running: number[] = []
  const ends = new Map<number, () => void>()
  const done = ages.map(age => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.set(age, resolve)
    return starts.during(age, signals[age] ?? free, async () => {
      running.push(age)
      await promise
      running.splice(running.indexOf(age), 1)
    })
  })
  const settled = Promise.allSettled(done)
  const end = async (age: number) => {
    ends.get(age)?.()
    await new Promise(setImmediate)
  }
  await new Promise(setImmediate)
  return { running, end, settled }
}

test('at most as many starts as the width run at once, and the oldest that waits is the next', async () => {
  const { running, end, settled } = await begin(new Starts(2, NEVER), [9, 8, 5, 7, 6])
  expect(running).toEqual([9, 8])
  await end(8)
  expect(running).toEqual([9, 5])
  await end(9)
  expect(running).toEqual([5, 6])
  for (const age of [5, 6, 7]) await end(age)
  expect(running).toEqual([])
  await settled
})

test('a start that fails makes room, and one whose run ends while it waits neither works nor takes room', async () => {
  const starts = new Starts(1, NEVER)
  const stopped = new AbortController()
  const { running, end, settled } = await begin(starts, [1, 2, 3], { 2: stopped.signal })
  const failed = expect(
    starts.during(4, free, () => Promise.reject(new Error('no sandbox'))),
  ).rejects.toThrow('no sandbox')
  stopped.abort(new Error('stopped'))
  await end(1)
  expect(running).toEqual([3])
  await end(3)
  await failed
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await expect(starts.during(5, stopped.signal, async () => {})).rejects.toThrow('stopped')
  await expect(starts.during(5, free, async () => 'room')).resolves.toBe('room')
})

test('a start that takes longer than the bound makes room once, although it continues', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { running, end } = await begin(new Starts(1, 1_000), [1, 2, 3])
  expect(running).toEqual([1])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(running).toEqual([1, 2])
  await end(1)
  expect(running).toEqual([2])
  await end(2)
  expect(running).toEqual([3])
  await end(3)
})
