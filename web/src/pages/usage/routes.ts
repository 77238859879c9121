import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { usageSearch } from '../../search-params.ts'

const usage = createRoute({
  getParentRoute: () => app,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import('./usage.tsx'), 'UsagePage'),
  staticData: { crumbs: ['Usage'] },
})

export const usageRoutes = [usage] as const
