import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { auditSearch, deliveriesSearch, tokensSearch } from '../../search-params.ts'

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
  component: lazyRouteComponent(() => import('./members/members.tsx'), 'MembersPage'),
  staticData: { crumbs: ['Members'] },
})

const integrations = createRoute({
  getParentRoute: () => settings,
  path: 'integrations',
  component: lazyRouteComponent(() => import('./integrations.tsx'), 'IntegrationsPage'),
  staticData: { crumbs: ['Integrations'] },
})

const serviceUsers = createRoute({
  getParentRoute: () => settings,
  path: 'service-users',
  component: lazyRouteComponent(() => import('./members/service-users.tsx'), 'ServiceUsersPage'),
  staticData: { crumbs: ['Service users'] },
})

const tokens = createRoute({
  getParentRoute: () => settings,
  path: 'tokens',
  validateSearch: tokensSearch,
  component: lazyRouteComponent(() => import('./tokens/tokens.tsx'), 'TokensPage'),
  staticData: { crumbs: ['Tokens'] },
})

const models = createRoute({
  getParentRoute: () => settings,
  path: 'models',
  component: lazyRouteComponent(() => import('./models/models.tsx'), 'ModelsPage'),
  staticData: { crumbs: ['Models and keys'] },
})

const limits = createRoute({
  getParentRoute: () => settings,
  path: 'limits',
  component: lazyRouteComponent(() => import('./limits/limits.tsx'), 'LimitsPage'),
  staticData: { crumbs: ['Limits and budgets'] },
})

const secrets = createRoute({
  getParentRoute: () => settings,
  path: 'secrets',
  component: lazyRouteComponent(() => import('./secrets.tsx'), 'SecretsPage'),
  staticData: { crumbs: ['Secrets'] },
})

const health = createRoute({
  getParentRoute: () => settings,
  path: 'health',
  component: lazyRouteComponent(() => import('./health.tsx'), 'HealthPage'),
  staticData: { crumbs: ['Health'] },
})

const profile = createRoute({
  getParentRoute: () => settings,
  path: 'profile',
  component: lazyRouteComponent(() => import('./profile.tsx'), 'ProfilePage'),
  staticData: { crumbs: ['Profile'] },
})

const network = createRoute({
  getParentRoute: () => settings,
  path: 'network',
  component: lazyRouteComponent(() => import('./network.tsx'), 'NetworkPage'),
  staticData: { crumbs: ['Network'] },
})

const skills = createRoute({
  getParentRoute: () => settings,
  path: 'skills',
  component: lazyRouteComponent(() => import('./skills/skills.tsx'), 'SkillsPage'),
  staticData: { crumbs: ['Skills'] },
})

const webhooks = createRoute({
  getParentRoute: () => settings,
  path: 'webhooks',
  staticData: { crumbs: ['Webhooks'] },
})

const webhook = createRoute({
  getParentRoute: () => webhooks,
  path: '/',
  validateSearch: deliveriesSearch,
  component: lazyRouteComponent(() => import('./webhooks/webhooks.tsx'), 'WebhooksPage'),
})

const delivery = createRoute({
  getParentRoute: () => webhooks,
  path: '$deliveryId',
  component: lazyRouteComponent(() => import('./webhooks/delivery.tsx'), 'DeliveryPage'),
  staticData: { crumbs: ['Delivery'] },
})

const auditLog = createRoute({
  getParentRoute: () => settings,
  path: 'audit-log',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('./audit/audit-log.tsx'), 'AuditLogPage'),
  staticData: { crumbs: ['Audit log'] },
})

const pages = [
  ...[organization, members, serviceUsers, tokens, integrations, models, limits, secrets, health, network, skills, auditLog, profile],
  webhooks.addChildren([webhook, delivery]),
] as const

export const settingsRoutes = [settings.addChildren(pages)] as const
