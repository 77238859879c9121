import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { RunCrumb, RunsCrumb } from '../../components/frame/crumbs.tsx'
import { newRunSearch, runListSearch, traceSearch } from '../../search-params.ts'

const list = createRoute({
  getParentRoute: () => app,
  path: '/',
  validateSearch: runListSearch,
  component: lazyRouteComponent(() => import('./run-list.tsx'), 'RunListPage'),
  staticData: { crumbs: ['Runs'] },
})

const create = createRoute({
  getParentRoute: () => app,
  path: '/new',
  validateSearch: newRunSearch,
  component: lazyRouteComponent(() => import('./new-run.tsx'), 'NewRunPage'),
  staticData: { crumbs: [RunsCrumb, 'New run'] },
})

const trace = createRoute({
  getParentRoute: () => app,
  path: '/agent/trace/$id',
  validateSearch: traceSearch,
  component: lazyRouteComponent(() => import('./trace.tsx'), 'TracePage'),
  staticData: { crumbs: [RunsCrumb, RunCrumb] },
})

export const runRoutes = [list, create, trace] as const
