import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { meQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { type RunView, sameSearch, standardViews } from './run-views.ts'

const SavedViews = lazy(() => import('./saved-views.tsx'))

/** The views of the run list as links. The view that has exactly the current filters is marked. */
export function ViewLinks() {
  const search = useSearch({ from: '/app/' })
  const views = standardViews(useQuery(meQuery).data?.id)
  const standard = views.some(view => sameSearch(view.search, search))
  return (
    <nav aria-label="Views" className="mb-3">
      <ul className="flex items-center gap-1 overflow-x-auto">
        {views.map(view => (
          <li key={view.name} className="shrink-0">
            <ViewLink view={view} current={sameSearch(view.search, search)} />
          </li>
        ))}
        <Suspense>
          <SavedViews search={search} can_save={!standard} />
        </Suspense>
      </ul>
    </nav>
  )
}

export const ViewLink = ({ view, current }: { view: RunView; current: boolean }) => (
  <Link
    to="/"
    search={view.search}
    activeOptions={{ exact: true, includeSearch: true }}
    // The link is also current when the address has the same filters in another order.
    aria-current={current ? 'page' : undefined}
    className={`inline-flex h-7 items-center rounded-md px-2.5 font-medium text-sm max-md:h-9 ${current ? 'bg-hover text-ink' : 'text-muted hover:bg-hover hover:text-ink'}`}
  >
    {visible(view.name)}
  </Link>
)
