import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { Result } from '../../../src/contract/calls.ts'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { newerRun } from './newer-run.ts'
import { type RunFilter, runQuery } from './queries.ts'

type Page = Result<'listAgentRuns'>

/** Updates a run everywhere it is shown. */
export function putRun(client: QueryClient, run: AgentRun): void {
  client.setQueryData(runQuery(run.id).queryKey, old => newerRun(run, old))
  for (const [key, data] of client.getQueriesData<InfiniteData<Page>>({ queryKey: ['runs'] })) {
    if (data) client.setQueryData(key, { ...data, pages: withRun(data.pages, run, key[1] as RunFilter) })
  }
}

/** Removes a deleted run from everything that is shown. */
export function dropRun(client: QueryClient, id: number): void {
  client.removeQueries({ queryKey: runQuery(id).queryKey })
  for (const [key, data] of client.getQueriesData<InfiniteData<Page>>({ queryKey: ['runs'] }))
    if (data) client.setQueryData(key, { ...data, pages: withoutRun(data.pages, id) })
}

/**
 * The pages of a filtered list after a run changed or was created. Runs keep their positions; new ones come
 * first.
 */
export function withRun(pages: Page[], run: AgentRun, filter: RunFilter): Page[] {
  const fits = matches(run, filter)
  const known = pages.some(page => page.items.some(item => item.id === run.id))
  const change = known === fits ? 0 : fits ? 1 : -1
  const newest = pages[0]?.items[0]?.id ?? 0
  // A run that is older than all loaded runs is loaded with its page.
  if (!known && (!fits || run.id < newest)) return pages
  return pages.map((page, index) => {
    const items = known
      ? page.items.flatMap(item => (item.id === run.id ? (fits ? [newerRun(run, item)] : []) : [item]))
      : index === 0
        ? [run, ...page.items]
        : page.items
    return { ...page, items, total: Math.max(0, page.total + change) }
  })
}

export function withoutRun(pages: Page[], id: number): Page[] {
  if (!pages.some(page => page.items.some(item => item.id === id))) return pages
  return pages.map(page => ({
    ...page,
    items: page.items.filter(item => item.id !== id),
    total: Math.max(0, page.total - 1),
  }))
}

/** Whether the service would list the run with these filters. */
export function matches(run: AgentRun, filter: RunFilter): boolean {
  const { status, q, tag, created_after, created_before, archived = false, ...same } = filter
  if (run.archived !== archived) return false
  if (status && !status.includes(run.status)) return false
  if (
    Object.entries(same).some(
      ([key, value]) => value !== undefined && run[key as keyof typeof same] !== value,
    )
  )
    return false
  if (tag && !run.tags.includes(tag)) return false
  // Both are UTC with milliseconds, so that their order is that of the times.
  if (created_after && run.created_at <= created_after) return false
  if (created_before && run.created_at >= created_before) return false
  return !q || `${run.title}\n${run.prompt}`.toLowerCase().includes(q.toLowerCase())
}
