import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'

const settings = createRoute({
  getParentRoute: () => app,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings.tsx'), 'SettingsPage'),
  staticData: { crumbs: ['Settings'] },
})

const organization = createRoute({
  getParentRoute: () => settings,
  path: '/',
  component: lazyRouteComponent(() => import('./organization.tsx'), 'OrganizationSettings'),
})

const members = createRoute({
  getParentRoute: () => settings,
  path: 'members',
  component: lazyRouteComponent(() => import('./members.tsx'), 'MembersPage'),
  staticData: { crumbs: ['Members'] },
})

const integrations = createRoute({
  getParentRoute: () => settings,
  path: 'integrations',
  component: lazyRouteComponent(() => import('./integrations.tsx'), 'IntegrationsPage'),
  staticData: { crumbs: ['Integrations'] },
})

export const settingsRoutes = [settings.addChildren([organization, members, integrations])] as const
