import { infiniteQueryOptions, type QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import type { ForgeConnection } from '../../../src/contract/repositories/forges.ts'
import type { RunStatus } from '../../../src/contract/runs/runs.ts'
import { statusOf } from './api-error.ts'
import { call, session } from './client.ts'

/** Answers are kept up to date by the streams, so nothing is asked for again merely because a tab is looked at. */
export const createQueryClient = (queryCache: QueryCache) =>
  new QueryClient({
    queryCache,
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => count < MAX_RETRIES && isTransient(statusOf(error)),
      },
    },
  })

/** As the list of integrations has it. */
export type Connection = Omit<ForgeConnection, 'webhook_secret'>

const MAX_RETRIES = 3

const isTransient = (status: number | null) => status !== null && (status === 0 || status === 429 || status >= 500)

export type RunFilter = { status?: RunStatus; repo_id?: number; q?: string; tag?: string; archived?: boolean }

export const runs_page_size = 50

export const runQuery = (agent_run_id: number) =>
  queryOptions({ queryKey: ['run', agent_run_id], queryFn: ({ signal }) => call('getAgentRun', { params: { agent_run_id }, signal }) })

/** `skip` of the next page is the number of runs already here: runs that came in live are among them. */
export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ['runs', filter],
    queryFn: ({ pageParam, signal }) =>
      call('listAgentRuns', {
        query: {
          skip: pageParam,
          limit: runs_page_size,
          status: filter.status,
          q: filter.q,
          tag: filter.tag,
          repo_id: filter.repo_id,
          archived: filter.archived || undefined,
        },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: (_last, pages) => {
      const here = pages.reduce((sum, page) => sum + page.items.length, 0)
      return here < (pages.at(-1)?.total ?? 0) ? here : undefined
    },
  })

export const sandboxesQuery = infiniteQueryOptions({
  queryKey: ['sandboxes'],
  queryFn: ({ pageParam, signal }) => call('listSandboxes', { query: { skip: pageParam, limit: runs_page_size }, signal }),
  initialPageParam: 0,
  getNextPageParam: (_last, pages) => {
    const here = pages.reduce((sum, page) => sum + page.items.length, 0)
    return here < (pages.at(-1)?.total ?? 0) ? here : undefined
  },
  // No stream tells of them.
  refetchInterval: 5_000,
})

/** `state` is whatever makes another answer likely: the pushed commit, the turn, the status. */
export const diffQuery = (agent_run_id: number, state: string) =>
  queryOptions({
    queryKey: ['diff', agent_run_id, state],
    queryFn: ({ signal }) => call('getAgentRunDiff', { params: { agent_run_id }, signal }),
    placeholderData: previous => previous,
  })

/** `state` as above: whether it could be merged is asked anew when it has changed. */
export const pullRequestQuery = (pr_id: number, state: string) =>
  queryOptions({
    queryKey: ['pull_request', pr_id, state],
    queryFn: ({ signal }) => call('getPullRequest', { params: { pr_id }, signal }),
  })

/** `state` as above. */
export const checksQuery = (pr_id: number, state: string) =>
  queryOptions({
    queryKey: ['checks', pr_id, state],
    queryFn: ({ signal }) => call('listPullRequestChecks', { params: { pr_id }, signal }),
    placeholderData: previous => previous,
  })

/** `state` as above. */
export const commitsQuery = (pr_id: number, state: string) =>
  queryOptions({
    queryKey: ['commits', pr_id, state],
    queryFn: ({ signal }) => call('listPullRequestCommits', { params: { pr_id }, query: { limit: 100 }, signal }),
    placeholderData: previous => previous,
  })

/** All that was said of a pull request. */
export const commentsQuery = (pr_id: number, state: string) =>
  queryOptions({
    queryKey: ['comments', pr_id, state],
    queryFn: async ({ signal }) => {
      const page = (skip: number) => call('listPullRequestComments', { params: { pr_id }, query: { limit: 100, skip: skip }, signal })
      const { items, total } = await page(0)
      const all = [...items]
      while (all.length < total) {
        const next = await page(all.length)
        if (next.items.length === 0) break
        all.push(...next.items)
      }
      return all
    },
    // Nobody tells when the forge has one.
    refetchInterval: ({ state: { data } }) => (data?.some(comment => comment.forge_state === 'pending') ? 3_000 : false),
    placeholderData: previous => previous,
  })

/** The runs that are related to a run; `state` makes another answer likely. */
export const relatedQuery = (agent_run_id: number, state: string) =>
  queryOptions({
    queryKey: ['related', agent_run_id, state],
    queryFn: ({ signal }) => call('listRelatedAgentRuns', { params: { agent_run_id }, signal }),
    placeholderData: previous => previous,
  })

/** What the start of a run took; `state` makes another answer likely. */
export const startupQuery = (agent_run_id: number, state: string) =>
  queryOptions({
    queryKey: ['startup', agent_run_id, state],
    queryFn: ({ signal }) => call('getAgentRunStartup', { params: { agent_run_id }, signal }),
    placeholderData: previous => previous,
  })

export const startupsQuery = (repo_id: number) =>
  queryOptions({ queryKey: ['startups', repo_id], queryFn: ({ signal }) => call('getRepositoryStartups', { params: { repo_id }, signal }) })

/** What setup commands have prepared for runs of a repository. */
export const environmentsQuery = (repo_id: number) =>
  queryOptions({ queryKey: ['environments', repo_id], queryFn: ({ signal }) => call('listEnvironments', { params: { repo_id }, signal }) })

/** What runs of a repository may reach besides what its organization's may. */
export const egressQuery = (repo_id: number) =>
  queryOptions({ queryKey: ['egress', repo_id], queryFn: ({ signal }) => call('getRepositoryEgress', { params: { repo_id }, signal }) })

export const repositoriesQuery = queryOptions({
  queryKey: ['repositories'],
  queryFn: async ({ signal }) => {
    const first = await call('listRepositories', { query: { limit: 100 }, signal })
    const items = [...first.items]
    while (items.length < first.total) {
      const next = await call('listRepositories', { query: { limit: 100, skip: items.length }, signal })
      if (next.items.length === 0) break
      items.push(...next.items)
    }
    return items
  },
  staleTime: 300_000,
})

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => call('listModels', { signal }),
  staleTime: 300_000,
})

export const meQuery = queryOptions({ queryKey: ['me'], queryFn: ({ signal }) => call('getMe', { signal }), staleTime: 300_000 })

export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: ({ signal }) => call('listOrganizations', { query: { limit: 100 }, signal }),
  staleTime: 300_000,
})

/** The organization that the pages are about. */
export const currentOrganizationQuery = queryOptions({
  queryKey: ['current-organization'],
  queryFn: async () => (await session.current()).organization_id,
  staleTime: 300_000,
})

/** Whether workers start runs; public, so that it can be asked at any time. */
export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  queryFn: ({ signal }) => call('getReadiness', { signal }),
  refetchInterval: 30_000,
  retry: false,
})

/** What the organization is connected to. A person may be on their way through a page of the forge, so coming back asks again. */
export const forgesQuery = queryOptions({
  queryKey: ['forges'],
  queryFn: async ({ signal }) => {
    const { integrations } = await call('listIntegrations', { signal })
    return integrations.map(({ metadata }) => metadata as Connection)
  },
  staleTime: 0,
  refetchOnWindowFocus: true,
})
