import { createRoute } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { RunCrumb, RunsCrumb } from '../../components/frame/crumbs.tsx'
import { newRunSearch, runListSearch, traceSearch } from '../../search-params.ts'
import { lazyPage } from '../lazy-page.ts'

const list = createRoute({
  getParentRoute: () => app,
  path: '/',
  validateSearch: runListSearch,
  component: lazyPage(() => import('./run-list.tsx'), 'RunListPage'),
  staticData: { crumbs: ['Runs'] },
})

const create = createRoute({
  getParentRoute: () => app,
  path: '/new',
  validateSearch: newRunSearch,
  component: lazyPage(() => import('./new-run.tsx'), 'NewRunPage'),
  staticData: { crumbs: [RunsCrumb, 'New run'] },
})

const trace = createRoute({
  getParentRoute: () => app,
  path: '/agent/trace/$id',
  validateSearch: traceSearch,
  component: lazyPage(() => import('./trace.tsx'), 'TracePage'),
  staticData: { crumbs: [RunsCrumb, RunCrumb] },
})

export const runRoutes = [list, create, trace] as const
