import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FilesState } from './files-state.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function start(first: string | null) {
  const read = { state: first }
  const files = new FilesState(async () => read.state)
  /** A snapshot as `Snapshots` takes it: false when it was not needed. */
  const snapshot = async (succeeds = true) => {
    if (files.isCaptured(await files.read())) return false
    const done = files.capture()
    if (succeeds) done()
    return true
  }
  return { read, snapshot }
}

it('needs no snapshot while nothing changes, and one after each change', async () => {
  const { read, snapshot } = start('one')
  expect(await snapshot()).toBe(true)
  vi.advanceTimersByTime(30)
  expect([await snapshot(), await snapshot(), await snapshot()]).toEqual([true, false, false])
  read.state = 'two'
  expect(await snapshot()).toBe(true)
})

it('captures again what may have changed twice within one tick of the clock', async () => {
  const { snapshot } = start('one')
  expect(await snapshot()).toBe(true)
  vi.advanceTimersByTime(15)
  expect(await snapshot()).toBe(true)
  vi.advanceTimersByTime(15)
  // The first capture that began long enough after the state was seen first.
  expect([await snapshot(), await snapshot()]).toEqual([true, false])
})

it('knows no bound of the size of files whose state it does not know', () => {
  const files = new FilesState(async () => null)
  expect(files.largestBytes('1024 digest')).toBe(1024)
  expect(files.largestBytes(null)).toBe(Number.POSITIVE_INFINITY)
})

it('does not trust a capture that failed, nor a state that it does not know', async () => {
  const { read, snapshot } = start('one')
  await snapshot()
  vi.advanceTimersByTime(30)
  expect([await snapshot(false), await snapshot(false), await snapshot(), await snapshot()]).toEqual([
    true,
    true,
    true,
    false,
  ])
  read.state = null
  vi.advanceTimersByTime(30)
  expect([await snapshot(), await snapshot()]).toEqual([true, true])
  read.state = 'one'
  expect(await snapshot()).toBe(true)
})
