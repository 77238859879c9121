import { infiniteQueryOptions, QueryClient, queryOptions, replaceEqualDeep } from '@tanstack/react-query'
import type { Result } from '../../../src/contract/calls.ts'
import type { ForgeConnection } from '../../../src/contract/repositories/forges.ts'
import type { AgentRun, RunStatus, SourceType, StatusReason } from '../../../src/contract/runs/runs.ts'
import { allItems } from './all-items.ts'
import { statusOf } from './api-error.ts'
import { call, session } from './client.ts'
import { fetchRun } from './first-view.ts'
import { newerRun } from './newer-run.ts'

/** The streams keep cached responses up to date, so focusing a tab does not refetch them. */
export const createQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        // Without a network a request fails at once, and the page shows it. Otherwise it would wait, and be
        // sent at an unexpected moment.
        networkMode: 'always',
        refetchOnWindowFocus: false,
        retry: (count, error) => count < MAX_RETRIES && isTransient(statusOf(error)),
      },
      mutations: { networkMode: 'always' },
    },
  })

/** A connection as the list of integrations contains it. */
export type Connection = Omit<ForgeConnection, 'webhook_secret'>

const MAX_RETRIES = 3

/** The interval of attempts while the service does not respond. */
export const UNREACHABLE_RETRY_MS = 2_000

/** The interval at which active runs are fetched that no open stream reports. */
const ACTIVE_REFETCH_MS = 3_000

const isTransient = (status: number | null) =>
  status !== null && (status === 0 || status === 429 || status >= 500)

/** The filters of the list of runs, by the names of the API. */
export type RunFilter = {
  status?: RunStatus[]
  status_reason?: StatusReason
  repo_id?: number
  user_id?: number
  model?: string
  source_type?: SourceType
  tag?: string
  q?: string
  created_after?: string
  created_before?: string
  archived?: boolean
}

const runs_page_size = 50

export const runQuery = (agent_run_id: number) =>
  queryOptions({
    queryKey: ['run', agent_run_id],
    queryFn: ({ signal }) => fetchRun(agent_run_id, signal),
    // Parts that are equal stay the same objects, as without this function.
    structuralSharing: (old, run) =>
      replaceEqualDeep(old, newerRun(run as AgentRun, old as AgentRun | undefined)),
  })

/** `skip` of the next page is the number of runs already loaded, including those that arrived live. */
export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ['runs', filter],
    queryFn: ({ pageParam, signal }) =>
      call('listAgentRuns', { query: { ...filter, skip: pageParam, limit: runs_page_size }, signal }),
    initialPageParam: 0,
    getNextPageParam: (_last, pages) => {
      const here = pages.reduce((sum, page) => sum + page.items.length, 0)
      return here < (pages.at(-1)?.total ?? 0) ? here : undefined
    },
  })

/**
 * The entries whose changes of the workspace are shown; neither: from the base commit to the newest commit.
 */
export type DiffRange = { from_seq?: number; to_seq?: number }

/** `state`: what makes a different response likely, for example the pushed commit, the turn, the status. */
export const diffQuery = (agent_run_id: number, state: string, range: DiffRange = {}) =>
  queryOptions({
    queryKey: ['diff', agent_run_id, state, range],
    queryFn: ({ signal }) => call('getAgentRunDiff', { params: { agent_run_id }, query: range, signal }),
    placeholderData: previous => previous,
  })

/** `state` as above: mergeability is fetched again when it has changed. */
export const pullRequestQuery = (pr_id: number, state: string) =>
  queryOptions({
    queryKey: ['pull_request', pr_id, state],
    queryFn: ({ signal }) => call('getPullRequest', { params: { pr_id }, signal }),
  })

/**
 * A pull request as its page shows it. No stream covers it, so that it is fetched again while it is shown.
 */
export const pullRequestPageQuery = (pr_id: number) =>
  queryOptions({
    queryKey: ['pull_request', pr_id],
    queryFn: ({ signal }) => call('getPullRequest', { params: { pr_id }, signal }),
    refetchInterval: 10_000,
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
    queryFn: ({ signal }) =>
      call('listPullRequestCommits', { params: { pr_id }, query: { limit: 100 }, signal }),
    placeholderData: previous => previous,
  })

/** All comments of a pull request. */
export const commentsQuery = (pr_id: number, state: string) =>
  queryOptions({
    queryKey: ['comments', pr_id, state],
    queryFn: ({ signal }) =>
      allItems(skip =>
        call('listPullRequestComments', { params: { pr_id }, query: { limit: 100, skip }, signal }),
      ),
    // No event reports when the forge has a comment.
    refetchInterval: ({ state: { data } }) =>
      data?.some(comment => comment.forge_state === 'pending') ? 3_000 : false,
    placeholderData: previous => previous,
  })

/** The runs that are related to a run; `state`: as above. */
export const relatedQuery = (agent_run_id: number, state: string) =>
  queryOptions({
    queryKey: ['related', agent_run_id, state],
    queryFn: ({ signal }) => call('listRelatedAgentRuns', { params: { agent_run_id }, signal }),
    placeholderData: previous => previous,
    // The stream of a run does not report the others, and its trace ends with its turn.
    staleTime: 0,
    refetchInterval: ({ state: { data } }) =>
      data?.items.some(run => !run.terminal) ? ACTIVE_REFETCH_MS : false,
  })

/** The recovery report of a run, without its steps; `state`: as above. */
export const recoveryQuery = (agent_run_id: number, state: string) =>
  queryOptions({
    queryKey: ['recovery', agent_run_id, state],
    queryFn: ({ signal }) =>
      call('getAgentRunRecovery', { params: { agent_run_id }, query: { limit: 1 }, signal }),
    placeholderData: previous => previous,
  })

/** The startup times of a run; `state`: as above. */
export const startupQuery = (agent_run_id: number, state: string) =>
  queryOptions({
    queryKey: ['startup', agent_run_id, state],
    queryFn: ({ signal }) => call('getAgentRunStartup', { params: { agent_run_id }, signal }),
    placeholderData: previous => previous,
  })

export const startupsQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['startups', repo_id],
    queryFn: ({ signal }) => call('getRepositoryStartups', { params: { repo_id }, signal }),
  })

/** The environments that setup commands prepared for runs of a repository. */
export const environmentsQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['environments', repo_id],
    queryFn: ({ signal }) => call('listEnvironments', { params: { repo_id }, signal }),
  })

/** The hosts that runs of a repository may reach in addition to those of its organization. */
export const egressQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['egress', repo_id],
    queryFn: ({ signal }) => call('getRepositoryEgress', { params: { repo_id }, signal }),
  })

/** The hosts that runs of all repositories may reach. */
export const organizationEgressQuery = queryOptions({
  queryKey: ['organization-egress'],
  queryFn: ({ signal }) => call('getEgress', { signal }),
})

export type Repository = Result<'getRepository'>

export const repositoryQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['repository', repo_id],
    queryFn: ({ signal }) => call('getRepository', { params: { repo_id }, signal }),
  })

export const repositoriesQuery = queryOptions({
  queryKey: ['repositories'],
  queryFn: ({ signal }) =>
    allItems(skip => call('listRepositories', { query: { limit: 100, skip }, signal })),
  staleTime: 300_000,
})

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => call('listModels', { signal }),
  staleTime: 300_000,
})

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: ({ signal }) => call('listAgents', { signal }),
  staleTime: 300_000,
})

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call('getMe', { signal }),
  staleTime: 300_000,
})

export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: ({ signal }) => call('listOrganizations', { query: { limit: 100 }, signal }),
  staleTime: 300_000,
})

/** The organization that the pages show. */
export const currentOrganizationQuery = queryOptions({
  queryKey: ['current-organization'],
  queryFn: async () => (await session.current()).organization_id,
  staleTime: 300_000,
})

/** Whether workers start runs. Public, so that it can be fetched at any time. */
export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  queryFn: ({ signal }) => call('getReadiness', { signal }),
  // While the service does not respond, its return must be seen at once.
  refetchInterval: ({ state }) => (state.status === 'error' ? UNREACHABLE_RETRY_MS : 30_000),
  retry: false,
})

/**
 * The organization's connections. Focusing the tab refetches them, because people return from a page of the
 * forge.
 */
export const forgesQuery = queryOptions({
  queryKey: ['forges'],
  queryFn: async ({ signal }) => {
    const { integrations } = await call('listIntegrations', { signal })
    return integrations.map(({ metadata }) => metadata as Connection)
  },
  staleTime: 0,
  refetchOnWindowFocus: true,
})
