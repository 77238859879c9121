import { createRoute } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { SandboxCrumb } from '../../components/frame/crumbs.tsx'
import { sandboxListSearch } from '../../search-params.ts'
import { lazyPage } from '../lazy-page.ts'

const sandboxes = createRoute({
  getParentRoute: () => app,
  path: '/sandboxes',
  staticData: { crumbs: ['Sandboxes'] },
})

const list = createRoute({
  getParentRoute: () => sandboxes,
  path: '/',
  validateSearch: sandboxListSearch,
  component: lazyPage(() => import('./sandbox-list.tsx'), 'SandboxListPage'),
})

const sandbox = createRoute({
  getParentRoute: () => sandboxes,
  path: '$sandboxId',
  component: lazyPage(() => import('./sandbox.tsx'), 'SandboxPage'),
  staticData: { crumbs: [SandboxCrumb] },
})

export const sandboxRoutes = [sandboxes.addChildren([list, sandbox])] as const
