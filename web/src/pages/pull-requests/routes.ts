import { createRoute } from '@tanstack/react-router'
import { app } from '../../app-route.tsx'
import { PullRequestCrumb } from '../../components/frame/crumbs.tsx'
import { pullRequestListSearch } from '../../search-params.ts'
import { lazyPage } from '../lazy-page.ts'

const pullRequests = createRoute({
  getParentRoute: () => app,
  path: '/pull-requests',
  staticData: { crumbs: ['Pull requests'] },
})

const list = createRoute({
  getParentRoute: () => pullRequests,
  path: '/',
  validateSearch: pullRequestListSearch,
  component: lazyPage(() => import('./pull-request-list.tsx'), 'PullRequestListPage'),
})

const pullRequest = createRoute({
  getParentRoute: () => pullRequests,
  path: '$prId',
  component: lazyPage(() => import('./pull-request.tsx'), 'PullRequestPage'),
  staticData: { crumbs: [PullRequestCrumb] },
})

const conversation = createRoute({
  getParentRoute: () => pullRequest,
  path: '/',
  component: lazyPage(() => import('./conversation.tsx'), 'PullRequestConversation'),
})

const changes = createRoute({
  getParentRoute: () => pullRequest,
  path: 'changes',
  component: lazyPage(() => import('./changes.tsx'), 'PullRequestChanges'),
  staticData: { crumbs: ['Changes'] },
})

export const pullRequestRoutes = [
  pullRequests.addChildren([list, pullRequest.addChildren([conversation, changes])]),
] as const
