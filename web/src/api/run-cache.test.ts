import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, onTestFinished, test } from 'vitest'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { type RunFilter, runQuery } from './queries.ts'
import { matches, putRun, withoutRun, withRun } from './run-cache.ts'

const run = (id: number, fields: Partial<AgentRun> = {}) =>
  ({
    id,
    status: 'running',
    updated_at: '2026-11-20T10:00:00.000Z',
    archived: false,
    title: `Run ${id}`,
    prompt: 'Do it',
    tags: [],
    repo_id: 1,
    ...fields,
  }) as AgentRun

const page = (...items: AgentRun[]) => ({ items, total: 10, page: 1, size: 2, pages: 5 })
const ids = (pages: { items: AgentRun[] }[]) => pages.map(({ items }) => items.map(({ id }) => id))

test('a new run comes first and is counted', () => {
  const pages = withRun([page(run(9), run(8)), page(run(7))], run(10), {})
  expect(ids(pages)).toEqual([[10, 9, 8], [7]])
  expect(pages[0]?.total).toBe(11)
})

test('a deleted run is removed and no longer counted; one that is not shown changes nothing', () => {
  const pages = [page(run(9), run(8)), page(run(7))]
  expect(ids(withoutRun(pages, 8))).toEqual([[9], [7]])
  expect(withoutRun(pages, 8)[0]?.total).toBe(9)
  expect(withoutRun(pages, 3)).toBe(pages)
})

test('a run that changed is updated at its position', () => {
  const later = run(8, { status: 'completed', updated_at: '2026-11-20T10:00:01.000Z' })
  expect(withRun([page(run(9), run(8))], later, {})[0]?.items[1]?.status).toBe('completed')
})

test('an older state that arrives late changes nothing', () => {
  const early = run(8, { status: 'queued', updated_at: '2026-11-20T09:00:00.000Z' })
  expect(withRun([page(run(8))], early, {})[0]?.items[0]?.status).toBe('running')
})

test('a response that an event has overtaken does not replace what the event reported', async () => {
  const client = new QueryClient()
  const [first, late] = [run(8), Promise.withResolvers<AgentRun>()]
  const responses = [Promise.resolve(first), late.promise]
  const observer = new QueryObserver(client, {
    ...runQuery(8),
    queryFn: () => responses.shift() ?? Promise.reject(),
  })
  const unsubscribe = observer.subscribe(() => {})
  onTestFinished(unsubscribe)
  await observer.fetchOptimistic(observer.options)
  const again = observer.refetch()
  putRun(client, run(8, { title: 'Reworded', updated_at: '2026-11-20T10:00:02.000Z' }))
  late.resolve(run(8, { updated_at: '2026-11-20T10:00:01.000Z' }))
  await again
  expect(client.getQueryData(runQuery(8).queryKey)).toMatchObject({ title: 'Reworded' })
})

test('a run that no longer fits the filter leaves the list, one that does not fit never enters it', () => {
  const left = withRun([page(run(9), run(8))], run(8, { status: 'completed' }), { status: ['running'] })
  expect(ids(left)).toEqual([[9]])
  expect(left[0]?.total).toBe(9)
  expect(ids(withRun([page(run(9))], run(10), { status: ['failed'] }))).toEqual([[9]])
})

test('a run older than what is loaded waits for its page', () => {
  expect(ids(withRun([page(run(9))], run(3), {}))).toEqual([[9]])
})

test('filters match like those of the service', () => {
  expect(matches(run(1, { archived: true }), {})).toBe(false)
  expect(matches(run(1, { archived: true }), { archived: true })).toBe(true)
  expect(matches(run(1, { tags: ['ci'] }), { tag: 'ci' })).toBe(true)
  expect(matches(run(1), { repo_id: 2 })).toBe(false)
  expect(matches(run(1, { prompt: 'Fix the PARSER' }), { q: 'parser' })).toBe(true)
})

test('filters by reason, person, model, source and time match like those of the service', () => {
  const one = run(1, {
    status: 'failed',
    status_reason: 'oom',
    user_id: 7,
    model: 'a/b',
    source_type: 'API',
    created_at: '2026-11-20T10:00:00.000Z',
  })
  const same = {
    status_reason: 'oom',
    user_id: 7,
    model: 'a/b',
    source_type: 'API',
    repo_id: undefined,
  } as const
  expect(matches(one, { ...same, status: ['completed', 'failed'] })).toBe(true)
  for (const other of [
    { status_reason: 'lost' },
    { user_id: 8 },
    { model: 'a' },
    { source_type: 'CHAT' },
    { status: ['running'] },
  ] as const)
    expect(matches(one, { ...same, ...other } as RunFilter)).toBe(false)
  expect(
    matches(one, { created_after: '2026-11-20T09:59:59.999Z', created_before: '2026-11-20T10:00:00.001Z' }),
  ).toBe(true)
  expect(matches(one, { created_after: '2026-11-20T10:00:00.000Z' })).toBe(false)
  expect(matches(one, { created_before: '2026-11-20T10:00:00.000Z' })).toBe(false)
})
