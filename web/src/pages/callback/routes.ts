import { createRoute } from '@tanstack/react-router'
import { root } from '../../app-route.tsx'
import { lazyPage } from '../lazy-page.ts'

const mcpSignIn = createRoute({
  getParentRoute: () => root,
  path: '/mcp-sign-in',
  component: lazyPage(() => import('./mcp-sign-in.tsx'), 'McpSignInPage'),
})

const gitHubApp = createRoute({
  getParentRoute: () => root,
  path: '/github-app',
  component: lazyPage(() => import('./github-app.tsx'), 'GitHubAppPage'),
})

/**
 * Pages to which another service sends the browser. They have no frame, because they belong to the
 * organization of what was begun.
 */
export const callbackRoutes = [mcpSignIn, gitHubApp] as const
