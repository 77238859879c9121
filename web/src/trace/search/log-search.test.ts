import { expect, test } from 'vitest'
import type { LogSearch as SearchPart } from '../../../../src/contract/runs/log-search.ts'
import { createLogSearch, matchFrom, rankOf } from './log-search.ts'

const hit = (seq: number) => ({
  seq,
  created_at: '2026-11-20T10:30:02.000Z',
  turn: 1,
  message_type: 'ACTION' as const,
  tool_name: 'shell',
  field: 'tool_output.output',
  snippet: `match ${seq}`,
  match_start: 0,
  match_length: 5,
})

/** A service with `matches`, which searches `step` entries in a request. */
function service(matches: number[], total: number, step: number) {
  const requests: [after_seq: number, limit: number][] = []
  const state = { total, failing: false }
  const load = async (after_seq: number, limit: number): Promise<SearchPart> => {
    requests.push([after_seq, limit])
    if (state.failing) throw new Error('unavailable')
    const searched_to = Math.min(after_seq + step, state.total)
    const seqs = matches.filter(seq => seq > after_seq && seq <= searched_to)
    return {
      agent_run_id: 1,
      seqs,
      hits: seqs.slice(0, limit).map(hit),
      searched_to,
      complete: searched_to >= state.total,
      total_logs: state.total,
    }
  }
  return { requests, state, load }
}

/** Starts a search, and resolves when `until` holds. */
function started(from: ReturnType<typeof service>) {
  const waiting: { until: () => boolean; resolve: () => void }[] = []
  const search = createLogSearch({
    load: from.load,
    page_size: 2,
    on_change() {
      for (const { until, resolve } of waiting) if (until()) resolve()
    },
  })
  const when = (until: () => boolean) =>
    until() ? Promise.resolve() : new Promise<void>(resolve => waiting.push({ until, resolve }))
  return { search, when }
}

test('a search continues until all entries were searched, and has the first hits at once', async () => {
  const { search, when } = started(service([3, 4, 15, 16, 27], 30, 10))
  await when(() => search.seqs.length > 0)
  expect(search.hit(0)?.snippet).toBe('match 3')
  await when(() => search.complete)
  expect(search.seqs).toEqual([3, 4, 15, 16, 27])
})

test('the hits of other positions are loaded when they are wanted, each page once', async () => {
  const from = service([3, 4, 15, 16, 27], 30, 30)
  const { search, when } = started(from)
  await when(() => search.complete)
  expect(search.hit(2)).toBeUndefined()
  search.want(2, 3)
  search.want(2, 3)
  await when(() => search.hit(3) !== undefined)
  search.want(0, 3)
  expect(from.requests).toEqual([
    [0, 2],
    [14, 2],
  ])
})

test('the first hits are loaded with their positions, and those of a page that no response has together, from the first missing one on', async () => {
  const from = service([3, 14, 25, 36], 40, 10)
  const { search, when } = started(from)
  await when(() => search.complete)
  expect([0, 1].map(index => search.hit(index)?.seq)).toEqual([3, 14])
  from.requests.length = 0
  search.want(0, 3)
  await when(() => search.hit(3) !== undefined)
  expect(from.requests).toEqual([
    [24, 2],
    [35, 1],
  ])
})

test('entries that a run adds are searched from where the search ended', async () => {
  const from = service([3, 12], 10, 30)
  const { search, when } = started(from)
  await when(() => search.complete)
  expect(search.seqs).toEqual([3])
  from.state.total = 12
  search.extend(12)
  await when(() => search.seqs.length === 2)
  expect(from.requests).toEqual([
    [0, 2],
    [10, 1],
  ])
})

test('a failed search reports its problem and continues after a retry', async () => {
  const from = service([3], 10, 30)
  from.state.failing = true
  const { search, when } = started(from)
  await when(() => search.problem !== null)
  from.state.failing = false
  search.retry()
  await when(() => search.complete)
  expect([search.problem, search.seqs]).toEqual([null, [3]])
})

test.each([
  [0, 'next', 3],
  [3, 'next', 7],
  [5, 'next', 7],
  [9, 'next', 3],
  [9, 'previous', 7],
  [5, 'previous', 3],
  [3, 'previous', 9],
  [0, 'previous', 9],
] as const)('from entry %i the %s match is entry %i', (seq, direction, found) => {
  expect(matchFrom([3, 7, 9], seq, direction)).toBe(found)
})

test('the rank of an entry is the number of matches up to it', () => {
  expect([0, 3, 6, 9, 10].map(seq => rankOf([3, 7, 9], seq))).toEqual([0, 1, 1, 3, 3])
  expect(matchFrom([], 4, 'next')).toBeUndefined()
})
