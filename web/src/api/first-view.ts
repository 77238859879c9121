import type { Result } from '../../../src/contract/calls.ts'
import type { MessageType } from '../../../src/contract/runs/logs.ts'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { call } from './client.ts'

/** Entries that the feed of a trace loads at a time: less than 10 kB in transit, also of long outputs. */
export const PAGE_ENTRIES = 12
/** As many entries as a large screen shows. */
const SCREEN_ENTRIES = 24

type Query = { skip: number; limit: number; message_type?: MessageType }
type Page = Result<'getAgentRunLogs'>

/**
 * Responses that were requested before the code that needs them was loaded. Each is used once, and a failure
 * is not kept.
 */
const runs = new Map<number, Promise<AgentRun>>()
const pages = new Map<string, Promise<Page>>()

function take<Key, T>(from: Map<Key, Promise<T>>, key: Key): Promise<T> | undefined {
  const response = from.get(key)
  from.delete(key)
  return response
}

function keep<Key, T>(in_map: Map<Key, Promise<T>>, key: Key, response: Promise<T>): Promise<T> {
  in_map.set(key, response)
  // A page that is opened later, as after a sign-in, sends a request of its own.
  response.catch(() => {
    if (in_map.get(key) === response) in_map.delete(key)
  })
  return response
}

const requestRun = (agent_run_id: number, signal?: AbortSignal) =>
  call('getAgentRun', { params: { agent_run_id }, ...(signal && { signal }) })

const requestPage = (agent_run_id: number, query: Query, signal?: AbortSignal) =>
  call('getAgentRunLogs', { params: { agent_run_id }, query, ...(signal && { signal }) })

/** Returns a run. */
export const fetchRun = (agent_run_id: number, signal: AbortSignal): Promise<AgentRun> =>
  take(runs, agent_run_id) ?? requestRun(agent_run_id, signal)

/** Returns a page of the entries of a run. */
export const fetchEntries = (agent_run_id: number, query: Query, signal: AbortSignal): Promise<Page> =>
  take(pages, JSON.stringify([agent_run_id, query])) ?? requestPage(agent_run_id, query, signal)

/**
 * Requests what the address of a trace shows first: the run, and the entries around the one that `hash` names
 * or at the end.
 */
export function fetchFirstView(
  agent_run_id: number,
  { search, hash }: { search: string; hash: string },
): void {
  const run = keep(runs, agent_run_id, requestRun(agent_run_id))
  const filtered = new URLSearchParams(search)
  if (filtered.has('q') || filtered.has('type')) return
  const seq = Number(/^#e(\d{1,9})$/.exec(hash)?.[1] ?? 0)
  run.then(
    ({ total_logs }) => {
      for (const skip of firstPages(total_logs, seq)) {
        const query = { skip, limit: PAGE_ENTRIES }
        keep(pages, JSON.stringify([agent_run_id, query]), requestPage(agent_run_id, query))
      }
    },
    () => {},
  )
}

/**
 * The offsets of the pages that are on the first screen of a trace. `seq`: the entry that the address names,
 * 0 for none.
 */
export function firstPages(total: number, seq: number): number[] {
  if (total === 0) return []
  const named = seq > 0 && seq <= total
  const [first, last] = named
    ? [seq - 1, Math.min(total, seq - 1 + SCREEN_ENTRIES) - 1]
    : [Math.max(0, total - SCREEN_ENTRIES), total - 1]
  const pageOf = (index: number) => Math.floor(index / PAGE_ENTRIES) * PAGE_ENTRIES
  const pages = Math.floor((pageOf(last) - pageOf(first)) / PAGE_ENTRIES) + 1
  return Array.from({ length: pages }, (_, page) => pageOf(first) + page * PAGE_ENTRIES)
}
