import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { pullRequestListSearch } from '../../search-params.ts'

const list = createRoute({
  getParentRoute: () => app,
  path: '/pull-requests',
  validateSearch: pullRequestListSearch,
  component: lazyRouteComponent(() => import('./pull-request-list.tsx'), 'PullRequestListPage'),
  staticData: { crumbs: ['Pull requests'] },
})

export const pullRequestRoutes = [list] as const
