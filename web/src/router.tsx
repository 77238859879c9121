import type { QueryClient } from '@tanstack/react-query'
import {
  createRoute,
  createRouter,
  parseSearchWith,
  redirect,
  stringifySearchWith,
} from '@tanstack/react-router'
import { app, root } from './app-route.tsx'
import { PageProblem, RouteProblem } from './components/page-problem.tsx'
import { callbackRoutes } from './pages/callback/routes.ts'
import { compareRoutes } from './pages/compare/routes.ts'
import { lazyPage } from './pages/lazy-page.ts'
import { oauthRoutes } from './pages/oauth/routes.ts'
import { pullRequestRoutes } from './pages/pull-requests/routes.ts'
import { repositoryRoutes } from './pages/repositories/routes.ts'
import { runRoutes } from './pages/runs/routes.ts'
import { sandboxRoutes } from './pages/sandboxes/routes.ts'
import { settingsRoutes } from './pages/settings/routes.ts'
import { usageRoutes } from './pages/usage/routes.ts'
import { signInSearch } from './search-params.ts'
import { Loading } from './ui/notice.tsx'

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyPage(() => import('./pages/sign-in.tsx'), 'SignInPage'),
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyPage(() => import('./pages/invitation.tsx'), 'InvitationPage'),
})

const reference = createRoute({
  getParentRoute: () => root,
  path: '/docs',
  component: lazyPage(() => import('./pages/api-reference.tsx'), 'ApiReferencePage'),
})

/** The former address of the integrations, to which forges and bookmarks may still lead. */
const forges = createRoute({
  getParentRoute: () => app,
  path: '/forges',
  beforeLoad: () => {
    throw redirect({ to: '/settings/integrations', replace: true })
  },
})

/** Any other address: the page that reports it, inside the frame. */
const missing = createRoute({
  getParentRoute: () => app,
  path: '$',
  component: () => <PageProblem error={null} />,
  staticData: { crumbs: ['Page not found'] },
})

const in_frame = [
  ...runRoutes,
  ...compareRoutes,
  ...pullRequestRoutes,
  ...repositoryRoutes,
  ...sandboxRoutes,
  ...usageRoutes,
  ...settingsRoutes,
  ...oauthRoutes,
  forges,
  missing,
] as const

export const createAppRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: root.addChildren([
      signIn,
      invitation,
      ...callbackRoutes,
      reference,
      app.addChildren(in_frame),
    ]),
    context: { queries },
    // Addresses are meant to be read and typed: plain words, no JSON.
    parseSearch: parseSearchWith(value => value),
    stringifySearch: stringifySearchWith(value => String(value)),
    defaultHashScrollIntoView: false,
    defaultPreload: 'intent',
    defaultPendingComponent: Loading,
    defaultErrorComponent: RouteProblem,
    defaultNotFoundComponent: () => <PageProblem error={null} />,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
