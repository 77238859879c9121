import { followRun, type RunEvent } from '../../../src/client/sdk/follow.ts'
import type { MessageType } from '../../../src/contract/runs/logs.ts'
import type { AgentRun, RunStatus } from '../../../src/contract/runs/runs.ts'
import { call, core } from '../api/client.ts'
import { fetchEntries, PAGE_ENTRIES } from '../api/first-view.ts'
import { followWhileVisible, type StreamState } from '../api/visible-tab-stream.ts'
import {
  afterDisconnect,
  afterEntry,
  afterEvent,
  afterReconnect,
  type LiveWork,
  nothing_live,
} from './live-work.ts'
import { createLogPages, type LogPages } from './log-pages.ts'
import { createLogSearch, type LogSearch } from './search/log-search.ts'

export type LogFilter = { message_type?: MessageType; failed?: true }

/**
 * A run as the page shows it: its entries, its current activity, and the state of the stream. Outside React,
 * read by useSyncExternalStore.
 */
export type Trace = {
  readonly pages: LogPages
  readonly work: LiveWork
  readonly stream: StreamState
  /** Increases with every change. */
  readonly version: number
  subscribe(listener: () => void): () => void
  /** The entries that match, updated as the run continues, until `close`. */
  filtered(filter: LogFilter): { pages: LogPages; close: () => void }
  /** The entries that contain a text, updated as the run continues, until `close`. */
  search(query: LogFilter & { q: string }): { search: LogSearch; close: () => void }
  close(): void
}

/** With PAGE_ENTRIES: at most 2,000 entries in memory. */
const max_pages = 160
/** Matches that a search loads at a time. */
const HITS = 100
/** Text and output arrive in many small pieces: the page renders once per frame. */
const batch_ms = 16
const refresh_ms = 1000
const working = new Set<RunStatus>(['starting', 'running', 'cancelling'])

const loadEntries =
  (agent_run_id: number, filter: LogFilter) => async (skip: number, limit: number, signal: AbortSignal) => {
    const page = await fetchEntries(agent_run_id, { skip, limit, ...filter }, signal)
    return { logs: page.logs, total: page.filtered_total ?? page.total_logs }
  }

const searchEntries =
  (agent_run_id: number, query: LogFilter & { q: string }) =>
  (after_seq: number, limit: number, signal: AbortSignal) =>
    call('searchAgentRunLogs', { params: { agent_run_id }, query: { ...query, after_seq, limit }, signal })

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure over the entries of an open trace, in short functions
export function openTrace(run: AgentRun, on_run: (run: AgentRun) => void): Trace {
  const listeners = new Set<() => void>()
  const followers = new Set<() => void>()
  let work = nothing_live
  let stream: StreamState = { name: 'connecting' }
  let version = 0
  let batch: ReturnType<typeof setTimeout> | undefined

  const changed = () => {
    batch ??= setTimeout(() => {
      batch = undefined
      version += 1
      for (const listener of listeners) listener()
    }, batch_ms)
  }
  const pagesOf = (filter: LogFilter) =>
    createLogPages({
      load: loadEntries(run.id, filter),
      on_change: changed,
      page_size: PAGE_ENTRIES,
      max_pages,
    })
  const pages = pagesOf({})
  pages.grow(run.total_logs)
  /** Calls `action` as the run continues, until the returned function is called. */
  const follow = (action: () => void) => {
    const follower = atMostEvery(refresh_ms, action)
    followers.add(follower)
    return () => followers.delete(follower)
  }

  const onEvent = (event: RunEvent) => {
    if (event.type === 'log') {
      pages.append(event.entry)
      work = afterEntry(work, event.entry)
      for (const follower of followers) follower()
    } else if (event.type === 'run') {
      if (!working.has(event.run.status)) work = nothing_live
      pages.grow(event.run.total_logs)
      on_run(event.run)
    } else {
      work = afterEvent(work, event.type, event.data)
    }
    changed()
  }
  const disconnect = followWhileVisible({
    open: (position, connection) => followRun(core, run.id, { ...position, until: () => false }, connection),
    after_seq: run.total_logs,
    on_event: onEvent,
    on_state: state => {
      // Running tools of a broken stream may have ended; entries are resumed, and the ephemeral events are
      // summed up.
      work = state.name === 'live' ? afterReconnect(work) : afterDisconnect(work)
      if (state.name === 'live' && pages.problem) pages.retry()
      stream = state
      changed()
    },
  })

  return {
    pages,
    get work() {
      return work
    },
    get stream() {
      return stream
    },
    get version() {
      return version
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    filtered(filter) {
      const matching = pagesOf(filter)
      const unfollow = follow(() => matching.refresh())
      matching.refresh()
      const close = () => {
        unfollow()
        matching.close()
      }
      return { pages: matching, close }
    },
    search(query) {
      const search = createLogSearch({
        load: searchEntries(run.id, query),
        on_change: changed,
        page_size: HITS,
      })
      const unfollow = follow(() => search.extend(pages.total))
      const close = () => {
        unfollow()
        search.close()
      }
      return { search, close }
    },
    close() {
      clearTimeout(batch)
      disconnect()
      pages.close()
      listeners.clear()
    },
  }
}

/** Calls at once, and once more after `ms` if it was requested meanwhile. */
function atMostEvery(ms: number, action: () => void): () => void {
  let state: 'free' | 'waiting' | 'requested' = 'free'
  const run = () => {
    if (state !== 'free') {
      state = 'requested'
      return
    }
    state = 'waiting'
    action()
    setTimeout(() => {
      const repeat = state === 'requested'
      state = 'free'
      if (repeat) run()
    }, ms)
  }
  return run
}
