import { createRoute } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { oauthSearch } from '../../search-params.ts'
import { lazyPage } from '../lazy-page.ts'

const authorize = createRoute({
  getParentRoute: () => app,
  path: '/oauth/authorize',
  validateSearch: oauthSearch,
  component: lazyPage(() => import('./consent.tsx'), 'ConsentPage'),
  staticData: { crumbs: ['Allow a program'] },
})

export const oauthRoutes = [authorize] as const
