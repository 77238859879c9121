import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { meQuery } from '../../api/queries.ts'
import { sameSearch, standardViews } from './run-views.ts'
import { ViewLink } from './view-link.tsx'

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
