import { createRoute } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { RepositoryCrumb } from '../../components/frame/crumbs.tsx'
import { setupSearch } from '../../search-params.ts'
import { lazyPage } from '../lazy-page.ts'

const repositories = createRoute({
  getParentRoute: () => app,
  path: '/repositories',
  staticData: { crumbs: ['Repositories'] },
})

const list = createRoute({
  getParentRoute: () => repositories,
  path: '/',
  component: lazyPage(() => import('./repository-list.tsx'), 'RepositoryListPage'),
})

const repository = createRoute({
  getParentRoute: () => repositories,
  path: '$repoId',
  component: lazyPage(() => import('./repository.tsx'), 'RepositoryPage'),
  staticData: { crumbs: [RepositoryCrumb] },
})

const general = createRoute({
  getParentRoute: () => repository,
  path: '/',
  component: lazyPage(() => import('./general.tsx'), 'RepositoryGeneral'),
})

const setup = createRoute({
  getParentRoute: () => repository,
  path: 'setup',
  validateSearch: setupSearch,
  component: lazyPage(() => import('./setup/setup.tsx'), 'RepositorySetup'),
  staticData: { crumbs: ['Setup'] },
})

const environment = createRoute({
  getParentRoute: () => repository,
  path: 'environment',
  component: lazyPage(() => import('./environment.tsx'), 'RepositoryEnvironment'),
  staticData: { crumbs: ['Environment'] },
})

const checks = createRoute({
  getParentRoute: () => repository,
  path: 'checks',
  component: lazyPage(() => import('./checks/checks.tsx'), 'RepositoryChecks'),
  staticData: { crumbs: ['Checks'] },
})

const secrets = createRoute({
  getParentRoute: () => repository,
  path: 'secrets',
  component: lazyPage(() => import('./secrets.tsx'), 'RepositorySecrets'),
  staticData: { crumbs: ['Secrets'] },
})

const network = createRoute({
  getParentRoute: () => repository,
  path: 'network',
  component: lazyPage(() => import('./network.tsx'), 'RepositoryNetwork'),
  staticData: { crumbs: ['Network'] },
})

const mcpServers = createRoute({
  getParentRoute: () => repository,
  path: 'mcp-servers',
  component: lazyPage(() => import('./mcp-servers.tsx'), 'RepositoryMcpServers'),
  staticData: { crumbs: ['MCP servers'] },
})

const webhooks = createRoute({
  getParentRoute: () => repository,
  path: 'webhooks',
  component: lazyPage(() => import('./webhooks.tsx'), 'RepositoryWebhooks'),
  staticData: { crumbs: ['Webhooks'] },
})

const danger = createRoute({
  getParentRoute: () => repository,
  path: 'danger',
  component: lazyPage(() => import('./danger.tsx'), 'RepositoryDanger'),
  staticData: { crumbs: ['Danger zone'] },
})

const tabs = [general, setup, environment, checks, secrets, network, mcpServers, webhooks, danger] as const

export const repositoryRoutes = [repositories.addChildren([list, repository.addChildren(tabs)])] as const
