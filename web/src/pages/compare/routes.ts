import { createRoute } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { RunsCrumb } from '../../components/frame/crumbs.tsx'
import { compareSearch } from '../../search-params.ts'
import { lazyPage } from '../lazy-page.ts'

const compare = createRoute({
  getParentRoute: () => app,
  path: '/compare',
  validateSearch: compareSearch,
  component: lazyPage(() => import('./compare.tsx'), 'ComparePage'),
  staticData: { crumbs: [RunsCrumb, 'Compare'] },
})

export const compareRoutes = [compare] as const
