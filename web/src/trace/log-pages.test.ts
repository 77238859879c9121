import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { LogEntry } from '../../../src/contract/runs/logs.ts'
import { createLogPages } from './log-pages.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const entry = (seq: number) => ({ seq }) as LogEntry

/** A run with `total` entries, in pages of ten. */
function run(total: number, max_pages = 3) {
  const state = { total, loads: [] as number[], fail: false, changes: 0 }
  const settled: Promise<unknown>[] = []
  const pages = createLogPages({
    page_size: 10,
    max_pages,
    on_change: () => {
      state.changes += 1
    },
    load: (skip, limit) => {
      state.loads.push(skip)
      const response = state.fail
        ? Promise.reject(new Error('no'))
        : Promise.resolve({
            logs: Array.from({ length: Math.max(0, Math.min(limit, state.total - skip)) }, (_, i) =>
              entry(skip + i + 1),
            ),
            total: state.total,
          })
      settled.push(response.catch(() => {}))
      return response
    },
  })
  const idle = async () => {
    await Promise.all(settled)
    await new Promise(resolve => setImmediate(resolve))
  }
  return { state, pages, idle }
}

test('only visible pages are loaded', async () => {
  const { state, pages, idle } = run(1000)
  pages.grow(1000)
  pages.want(503, 512)
  await idle()
  expect(state.loads).toEqual([500, 510])
  expect(pages.at(505)?.seq).toBe(506)
  expect(pages.at(0)).toBeUndefined()
})

test('pages that are skipped while the list is scrolled fast are not requested', async () => {
  const { state, pages, idle } = run(1000)
  pages.grow(1000)
  for (let first = 0; first <= 900; first += 30) pages.want(first, first + 9)
  await idle()
  vi.advanceTimersByTime(1000)
  await idle()
  expect(state.loads).toEqual([0, 900])
  expect(pages.at(905)?.seq).toBe(906)
})

test('nothing is requested after the list is closed', async () => {
  const { state, pages, idle } = run(1000)
  pages.grow(1000)
  pages.want(0, 9)
  pages.want(500, 509)
  await idle()
  pages.close()
  vi.advanceTimersByTime(1000)
  expect(state.loads).toEqual([0])
})

test('loaded pages are not requested again', async () => {
  const { state, pages, idle } = run(25)
  pages.grow(25)
  pages.want(20, 24)
  pages.want(20, 24)
  await idle()
  pages.want(20, 24)
  await idle()
  expect(state.loads).toEqual([20])
})

test('memory is bounded: the least recently viewed page is dropped first', async () => {
  const { pages, idle } = run(1000, 3)
  pages.grow(1000)
  for (const first of [0, 10, 20, 30]) {
    pages.want(first, first + 9)
    vi.advanceTimersByTime(1000)
    await idle()
  }
  expect(pages.at(0)).toBeUndefined()
  expect(pages.at(35)?.seq).toBe(36)
})

test('live entries come in at the end without a request', async () => {
  const { state, pages, idle } = run(9)
  pages.grow(9)
  pages.want(0, 8)
  await idle()
  pages.append(entry(10))
  pages.append(entry(11))
  expect([pages.total, pages.at(9)?.seq, pages.at(10)?.seq]).toEqual([11, 10, 11])
  pages.want(0, 10)
  await idle()
  expect(state.loads).toEqual([0])
})

test('an entry that comes twice is there once', async () => {
  const { pages, idle } = run(3)
  pages.grow(3)
  pages.want(0, 2)
  await idle()
  pages.append(entry(3))
  pages.append(entry(4))
  pages.append(entry(4))
  expect([pages.total, pages.at(3)?.seq, pages.at(4)]).toEqual([4, 4, undefined])
})

test('a page with a gap before a live entry is requested', async () => {
  const { state, pages, idle } = run(5)
  pages.grow(5)
  state.total = 8
  pages.append(entry(8))
  pages.want(0, 7)
  await idle()
  expect(state.loads).toEqual([0])
  expect(pages.at(7)?.seq).toBe(8)
})

test('live entries that came while their page was loading are kept', async () => {
  const { pages, idle } = run(2)
  pages.grow(2)
  pages.want(0, 1)
  pages.append(entry(1))
  pages.append(entry(2))
  pages.append(entry(3))
  await idle()
  expect(pages.at(2)?.seq).toBe(3)
})

test('a failed page is not requested in a loop, and is retried on demand', async () => {
  const { state, pages, idle } = run(5)
  pages.grow(5)
  state.fail = true
  pages.want(0, 4)
  await idle()
  pages.want(0, 4)
  await idle()
  expect(state.loads).toEqual([0])
  expect(pages.problem).toBeInstanceOf(Error)
  state.fail = false
  pages.retry()
  pages.want(0, 4)
  await idle()
  expect(pages.problem).toBeNull()
  expect(pages.at(0)?.seq).toBe(1)
})

test('a filtered list finds that it has grown past a full page', async () => {
  const { state, pages, idle } = run(10)
  pages.refresh()
  await idle()
  expect(pages.total).toBe(10)
  state.total = 12
  pages.refresh()
  await idle()
  expect(pages.total).toBe(12)
  pages.want(8, 11)
  await idle()
  expect(pages.at(11)?.seq).toBe(12)
})
