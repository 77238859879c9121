import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, Outlet, redirect } from '@tanstack/react-router'
import { isSignedOut } from './api/api-error.ts'
import { session } from './api/client.ts'
import { AppShell } from './components/frame/app-shell.tsx'

export const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet })

/**
 * The parent of every page that needs a session: the frame. Page groups add their routes below it, each in
 * its own routes.ts.
 */
export const app = createRoute({
  getParentRoute: () => root,
  id: 'app',
  component: AppShell,
  beforeLoad: async ({ location }) => {
    try {
      await session.current()
    } catch (error) {
      if (!isSignedOut(error)) throw error
      throw redirect({
        to: '/sign-in',
        search: { next: location.href === '/' ? undefined : location.href },
        replace: true,
      })
    }
  },
})
