import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { PullRequestCrumb } from '../../components/frame/crumbs.tsx'
import { pullRequestListSearch } from '../../search-params.ts'

const pullRequests = createRoute({
  getParentRoute: () => app,
  path: '/pull-requests',
  staticData: { crumbs: ['Pull requests'] },
})

const list = createRoute({
  getParentRoute: () => pullRequests,
  path: '/',
  validateSearch: pullRequestListSearch,
  component: lazyRouteComponent(() => import('./pull-request-list.tsx'), 'PullRequestListPage'),
})

const pullRequest = createRoute({
  getParentRoute: () => pullRequests,
  path: '$prId',
  component: lazyRouteComponent(() => import('./pull-request.tsx'), 'PullRequestPage'),
  staticData: { crumbs: [PullRequestCrumb] },
})

const conversation = createRoute({
  getParentRoute: () => pullRequest,
  path: '/',
  component: lazyRouteComponent(() => import('./conversation.tsx'), 'PullRequestConversation'),
})

const changes = createRoute({
  getParentRoute: () => pullRequest,
  path: 'changes',
  component: lazyRouteComponent(() => import('./changes.tsx'), 'PullRequestChanges'),
  staticData: { crumbs: ['Changes'] },
})

export const pullRequestRoutes = [pullRequests.addChildren([list, pullRequest.addChildren([conversation, changes])])] as const
