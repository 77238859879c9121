import type { RunStatus } from '../../../../src/contract/runs/runs.ts'
import { type RunListSearch, runListSearch } from '../../search-params.ts'

/**
 * A name for filters of the run list. The address contains the filters, so that a link to a view shows the
 * same to everybody.
 */
export type RunView = { name: string; search: RunListSearch }

const active: RunStatus[] = ['queued', 'starting', 'running', 'waiting', 'paused', 'cancelling']

export const standardViews = (user: number | undefined): RunView[] => [
  { name: 'All', search: {} },
  { name: 'Active', search: { status: active } },
  { name: 'Waiting or paused', search: { status: ['waiting', 'paused'] } },
  { name: 'Failed', search: { status: ['failed'] } },
  ...(user === undefined ? [] : [{ name: 'Mine', search: { user } }]),
  { name: 'Archived', search: { archived: true } as const },
]

const normal = (search: RunListSearch) => JSON.stringify(runListSearch(search))

export const sameSearch = (one: RunListSearch, other: RunListSearch): boolean => normal(one) === normal(other)

const key = (organization: number) => `run-views-${organization}`

/** The views that the person saved in this browser. */
export function readViews(organization: number): RunView[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(key(organization)) ?? '[]')
    if (!Array.isArray(saved)) return []
    return saved.flatMap(view =>
      typeof view?.name === 'string' ? [{ name: view.name, search: runListSearch(view.search ?? {}) }] : [],
    )
  } catch {
    return []
  }
}

/** Returns whether the browser kept them. */
export function writeViews(organization: number, views: RunView[]): boolean {
  try {
    localStorage.setItem(key(organization), JSON.stringify(views))
    return true
  } catch {
    return false
  }
}
