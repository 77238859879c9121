import type { RunFilter } from '../../api/queries.ts'
import type { RunListSearch } from '../../search-params.ts'
import { createdWithin } from '../../text/days.ts'

/** Returns the filters of the API for the search parameters of the list. */
export function filterOf({ repo, user, reason, source, from, to, ...same }: RunListSearch): RunFilter {
  return {
    ...same,
    repo_id: repo,
    user_id: user,
    status_reason: reason,
    source_type: source,
    ...createdWithin({ from, to }),
  }
}
