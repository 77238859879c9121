import { createRoute } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { usageSearch } from '../../search-params.ts'
import { lazyPage } from '../lazy-page.ts'

const usage = createRoute({
  getParentRoute: () => app,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyPage(() => import('./usage.tsx'), 'UsagePage'),
  staticData: { crumbs: ['Usage'] },
})

export const usageRoutes = [usage] as const
