import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  parseSearchWith,
  redirect,
  stringifySearchWith,
} from '@tanstack/react-router'
import { isSignedOut } from './api/api-error.ts'
import { session } from './api/client.ts'
import { AppShell } from './components/app-shell.tsx'
import { PageProblem } from './components/page-problem.tsx'
import { RunListPage } from './pages/runs/run-list.tsx'
import { newRunSearch, runListSearch, signInSearch, traceSearch } from './search-params.ts'
import { Loading } from './ui/notice.tsx'

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: () => <PageProblem error={null} />,
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('./pages/sign-in.tsx'), 'SignInPage'),
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/invitation.tsx'), 'InvitationPage'),
})

const reference = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyRouteComponent(() => import('./pages/api-reference.tsx'), 'ApiReferencePage'),
})

const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: AppShell,
  beforeLoad: async ({ location }) => {
    try {
      await session.current()
    } catch (error) {
      if (!isSignedOut(error)) throw error
      throw redirect({ to: '/sign-in', search: { next: location.href === '/' ? undefined : location.href }, replace: true })
    }
  },
})

const list = createRoute({
  getParentRoute: () => app,
  path: '/',
  validateSearch: runListSearch,
  component: RunListPage,
})

const create = createRoute({
  getParentRoute: () => app,
  path: '/new',
  validateSearch: newRunSearch,
  component: lazyRouteComponent(() => import('./pages/runs/new-run.tsx'), 'NewRunPage'),
})

const forges = createRoute({
  getParentRoute: () => app,
  path: '/forges',
  component: lazyRouteComponent(() => import('./pages/settings/integrations.tsx'), 'ForgesPage'),
})

const sandboxes = createRoute({
  getParentRoute: () => app,
  path: '/sandboxes',
  component: lazyRouteComponent(() => import('./pages/sandboxes.tsx'), 'SandboxesPage'),
})

const trace = createRoute({
  getParentRoute: () => app,
  path: '/agent/trace/$id',
  validateSearch: traceSearch,
  component: lazyRouteComponent(() => import('./pages/runs/trace.tsx'), 'TracePage'),
})

export const createAppRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: root.addChildren([signIn, invitation, reference, app.addChildren([list, create, sandboxes, forges, trace])]),
    context: { queries },
    // Addresses are meant to be read and typed: plain words, no JSON.
    parseSearch: parseSearchWith(value => value),
    stringifySearch: stringifySearchWith(value => String(value)),
    defaultHashScrollIntoView: false,
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: ({ error }) => <PageProblem error={error} />,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
