import type { LogEntry } from '../../../src/contract/runs/logs.ts'

type LogPage = { logs: LogEntry[]; total: number }

/**
 * The entries of one run (or of one filter over it), loaded by page as they become visible, and growing at
 * the end.
 */
export type LogPages = {
  /** The known number of entries. */
  readonly total: number
  /** False until the first response. */
  readonly ready: boolean
  /** The failure of the last load, null when there is none. */
  readonly problem: unknown
  /**
   * The entry at this position, or undefined while its page is not loaded. Without a filter, position = seq -
   * 1.
   */
  at(index: number): LogEntry | undefined
  /**
   * Loads the missing pages of a range of positions, now or after a pause, unless another range is wanted by
   * then. A failed page is not loaded again before `retry`.
   */
  want(first: number, last: number): void
  retry(): void
  /** Appends an entry of the live stream (never with a filter: only the service knows what matches). */
  append(entry: LogEntry): void
  /** Sets the total that the service reports. */
  grow(total: number): void
  /** Loads the end of the list again. */
  refresh(): void
  close(): void
}

type Options = {
  load: (skip: number, limit: number, signal: AbortSignal) => Promise<LogPage>
  on_change: () => void
  page_size: number
  /** The maximum number of pages in memory; the least recently viewed are dropped first. */
  max_pages: number
}

/**
 * While a person scrolls fast, pages are requested this often: those that were skipped would delay those
 * where the scrolling ends.
 */
const LOAD_PAUSE_MS = 100

type Page = { logs: LogEntry[]; state: 'idle' | 'loading' | 'failed'; used: number; total_then: number }

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the pages in memory, in short functions
export function createLogPages({ load, on_change, page_size, max_pages }: Options): LogPages {
  const pages = new Map<number, Page>()
  const closed = new AbortController()
  let total = 0
  let ready = false
  let problem: unknown = null
  let clock = 0
  let wanted = { first: 0, last: -1 }
  let pause: ReturnType<typeof setTimeout> | undefined

  const numberOf = (index: number) => Math.floor(index / page_size)
  const page = (number: number): Page => {
    const found = pages.get(number) ?? { logs: [], state: 'idle', used: 0, total_then: -1 }
    pages.set(number, found)
    found.used = ++clock
    return found
  }
  const isWhole = (number: number, { logs, total_then }: Page) =>
    logs.length >= Math.min(page_size, total - number * page_size) || total_then === total

  const fetchPage = async (number: number) => {
    const target = page(number)
    if (target.state === 'loading') return
    target.state = 'loading'
    try {
      const response = await load(number * page_size, page_size, closed.signal)
      // Entries of the live stream may have arrived meanwhile, so the total of the response may be too low.
      if (response.logs.length >= target.logs.length) target.logs = response.logs
      total = Math.max(total, response.total)
      target.total_then = response.total
      target.state = 'idle'
      problem = null
      ready = true
    } catch (error) {
      if (closed.signal.aborted) return
      target.state = 'failed'
      problem = error
    }
    evict()
    on_change()
  }

  const evict = () => {
    const idle = [...pages]
      .filter(([, { state }]) => state === 'idle')
      .sort(([, a], [, b]) => a.used - b.used)
    for (const [number] of idle.slice(0, Math.max(0, pages.size - max_pages))) pages.delete(number)
  }

  const loadWanted = () => {
    let loading = false
    for (let number = numberOf(wanted.first); number <= numberOf(wanted.last); number++) {
      const missing = page(number)
      if (missing.state !== 'idle' || (ready && isWhole(number, missing))) continue
      loading = true
      void fetchPage(number)
    }
    if (loading) {
      pause = setTimeout(() => {
        pause = undefined
        loadWanted()
      }, LOAD_PAUSE_MS)
    }
  }

  return {
    get total() {
      return total
    },
    get ready() {
      return ready
    },
    get problem() {
      return problem
    },
    at: index => pages.get(numberOf(index))?.logs[index % page_size],
    want(first, last) {
      wanted = { first: Math.max(0, first), last }
      if (pause === undefined) loadWanted()
    },
    retry() {
      for (const failed of pages.values()) if (failed.state === 'failed') failed.state = 'idle'
      problem = null
      clearTimeout(pause)
      pause = undefined
      on_change()
    },
    append(entry) {
      const index = entry.seq - 1
      const target = page(numberOf(index))
      // A new array: arrays that were returned before never change. After a gap the page is incomplete, and
      // `want` requests it.
      if (target.logs.length === index % page_size) target.logs = [...target.logs, entry]
      total = Math.max(total, entry.seq)
      evict()
      on_change()
    },
    grow(count) {
      if (count <= total) return
      total = count
      on_change()
    },
    refresh() {
      void fetchPage(numberOf(Math.max(0, total - 1)))
      // After a full last page there may be another one.
      if (total > 0 && total % page_size === 0) void fetchPage(total / page_size)
    },
    close() {
      clearTimeout(pause)
      closed.abort()
    },
  }
}
