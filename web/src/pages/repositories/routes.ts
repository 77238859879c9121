import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { RepositoryCrumb } from '../../components/frame/crumbs.tsx'

const repositories = createRoute({
  getParentRoute: () => app,
  path: '/repositories',
  staticData: { crumbs: ['Repositories'] },
})

const list = createRoute({
  getParentRoute: () => repositories,
  path: '/',
  component: lazyRouteComponent(() => import('./repository-list.tsx'), 'RepositoryListPage'),
})

const repository = createRoute({
  getParentRoute: () => repositories,
  path: '$repoId',
  component: lazyRouteComponent(() => import('./repository.tsx'), 'RepositoryPage'),
  staticData: { crumbs: [RepositoryCrumb] },
})

const general = createRoute({
  getParentRoute: () => repository,
  path: '/',
  component: lazyRouteComponent(() => import('./general.tsx'), 'RepositoryGeneral'),
})

const environment = createRoute({
  getParentRoute: () => repository,
  path: 'environment',
  component: lazyRouteComponent(() => import('./environment.tsx'), 'RepositoryEnvironment'),
  staticData: { crumbs: ['Environment'] },
})

export const repositoryRoutes = [repositories.addChildren([list, repository.addChildren([general, environment])])] as const
