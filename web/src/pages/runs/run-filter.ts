import type { RunFilter } from '../../api/queries.ts'
import type { RunListSearch } from '../../search-params.ts'

/** Returns the filters of the API for the search parameters of the list. A day begins and ends in the time zone of the reader. */
export function filterOf({ repo, user, reason, source, from, to, ...same }: RunListSearch): RunFilter {
  return {
    ...same,
    repo_id: repo,
    user_id: user,
    status_reason: reason,
    source_type: source,
    created_after: from && new Date(startOf(from).getTime() - 1).toISOString(),
    created_before: to && startOf(to, 1).toISOString(),
  }
}

function startOf(day: string, later_days = 0): Date {
  const date = new Date(`${day}T00:00:00`)
  date.setDate(date.getDate() + later_days)
  return date
}
