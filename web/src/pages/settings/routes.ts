import { createRoute } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { auditSearch, deliveriesSearch, tokensSearch } from '../../search-params.ts'
import { lazyPage } from '../lazy-page.ts'

const settings = createRoute({
  getParentRoute: () => app,
  path: '/settings',
  component: lazyPage(() => import('./settings.tsx'), 'SettingsPage'),
  staticData: { crumbs: ['Settings'] },
})

const organization = createRoute({
  getParentRoute: () => settings,
  path: '/',
  component: lazyPage(() => import('./organization.tsx'), 'OrganizationSettings'),
})

const members = createRoute({
  getParentRoute: () => settings,
  path: 'members',
  component: lazyPage(() => import('./members/members.tsx'), 'MembersPage'),
  staticData: { crumbs: ['Members'] },
})

const integrations = createRoute({
  getParentRoute: () => settings,
  path: 'integrations',
  component: lazyPage(() => import('./integrations.tsx'), 'IntegrationsPage'),
  staticData: { crumbs: ['Integrations'] },
})

const serviceUsers = createRoute({
  getParentRoute: () => settings,
  path: 'service-users',
  component: lazyPage(() => import('./members/service-users.tsx'), 'ServiceUsersPage'),
  staticData: { crumbs: ['Service users'] },
})

const tokens = createRoute({
  getParentRoute: () => settings,
  path: 'tokens',
  validateSearch: tokensSearch,
  component: lazyPage(() => import('./tokens/tokens.tsx'), 'TokensPage'),
  staticData: { crumbs: ['Tokens'] },
})

const models = createRoute({
  getParentRoute: () => settings,
  path: 'models',
  component: lazyPage(() => import('./models/models.tsx'), 'ModelsPage'),
  staticData: { crumbs: ['Models and keys'] },
})

const limits = createRoute({
  getParentRoute: () => settings,
  path: 'limits',
  component: lazyPage(() => import('./limits/limits.tsx'), 'LimitsPage'),
  staticData: { crumbs: ['Limits and budgets'] },
})

const secrets = createRoute({
  getParentRoute: () => settings,
  path: 'secrets',
  component: lazyPage(() => import('./secrets.tsx'), 'SecretsPage'),
  staticData: { crumbs: ['Secrets'] },
})

const health = createRoute({
  getParentRoute: () => settings,
  path: 'health',
  component: lazyPage(() => import('./health.tsx'), 'HealthPage'),
  staticData: { crumbs: ['Health'] },
})

const profile = createRoute({
  getParentRoute: () => settings,
  path: 'profile',
  component: lazyPage(() => import('./profile.tsx'), 'ProfilePage'),
  staticData: { crumbs: ['Profile'] },
})

const network = createRoute({
  getParentRoute: () => settings,
  path: 'network',
  component: lazyPage(() => import('./network.tsx'), 'NetworkPage'),
  staticData: { crumbs: ['Network'] },
})

const skills = createRoute({
  getParentRoute: () => settings,
  path: 'skills',
  component: lazyPage(() => import('./skills/skills.tsx'), 'SkillsPage'),
  staticData: { crumbs: ['Skills'] },
})

const mcpServers = createRoute({
  getParentRoute: () => settings,
  path: 'mcp-servers',
  component: lazyPage(() => import('./mcp-servers.tsx'), 'McpServersPage'),
  staticData: { crumbs: ['MCP servers'] },
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
  component: lazyPage(() => import('./webhooks/webhooks.tsx'), 'WebhooksPage'),
})

const delivery = createRoute({
  getParentRoute: () => webhooks,
  path: '$deliveryId',
  component: lazyPage(() => import('./webhooks/delivery.tsx'), 'DeliveryPage'),
  staticData: { crumbs: ['Delivery'] },
})

const auditLog = createRoute({
  getParentRoute: () => settings,
  path: 'audit-log',
  validateSearch: auditSearch,
  component: lazyPage(() => import('./audit/audit-log.tsx'), 'AuditLogPage'),
  staticData: { crumbs: ['Audit log'] },
})

const pages = [
  ...[
    organization,
    members,
    serviceUsers,
    tokens,
    integrations,
    models,
    limits,
    secrets,
    health,
    network,
    skills,
    auditLog,
    profile,
  ],
  mcpServers,
  webhooks.addChildren([webhook, delivery]),
] as const

export const settingsRoutes = [settings.addChildren(pages)] as const
