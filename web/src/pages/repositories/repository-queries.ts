import { queryOptions } from '@tanstack/react-query'
import { actionTool } from '../../../../src/contract/runs/action-tools.ts'
import { call } from '../../api/client.ts'
import type { Connection } from '../../api/queries.ts'
import { forgeKinds } from '../../components/forges/forge-kinds.ts'

export const setupQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['setup-commands', repo_id],
    queryFn: ({ signal }) => call('getSetupCommands', { params: { repo_id }, signal }),
  })

/** The newest run that detects setup commands of the repository, or null. */
export const detectionQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['setup-detection', repo_id],
    queryFn: async ({ signal }) => {
      const { items } = await call('listAgentRuns', {
        query: { repo_id, source_type: 'SETUP_COMMANDS', limit: 1 },
        signal,
      })
      return items[0] ?? null
    },
  })

export const checkCommandsQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['check-commands', repo_id],
    queryFn: ({ signal }) => call('getCheckCommands', { params: { repo_id }, signal }),
  })

export const checkSuiteQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['check-suite-settings', repo_id],
    queryFn: ({ signal }) => call('getCheckSuiteSettings', { query: { repo_id }, signal }),
  })

/** The names of the secrets, of which there are at most 100. */
export const secretsQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['secrets', repo_id],
    queryFn: ({ signal }) =>
      call('listRepositorySecrets', { params: { repo_id }, query: { limit: 100 }, signal }),
  })

/** How many of the latest runs are searched for the rules files that they read. */
const SEARCHED_RUNS = 5

/**
 * The rules files of the repository as the latest run got them, with that run; null if none of the latest
 * runs read any.
 */
export const rulesFilesQuery = (repo_id: number) =>
  queryOptions({
    queryKey: ['rules-files', repo_id],
    queryFn: async ({ signal }) => {
      const { items } = await call('listAgentRuns', { query: { repo_id, limit: SEARCHED_RUNS }, signal })
      for (const run of items) {
        const query = { tool_name: actionTool.repository_instructions, limit: 1 }
        const { logs } = await call('getAgentRunLogs', { params: { agent_run_id: run.id }, query, signal })
        if (logs[0]) return { run, entry: logs[0] }
      }
      return null
    },
  })

/**
 * What agents get in addition to the files of the repository: the rules of the organization, and those of the
 * reader.
 */
export const agentRulesQuery = queryOptions({
  queryKey: ['agent-rules'],
  queryFn: ({ signal }) => call('getCliRules', { signal }),
})

/** All repositories that a connection can see, at most the first 1,000. */
export const forgeRepositoriesQuery = ({ kind, url }: Connection) =>
  queryOptions({
    queryKey: ['forge-repositories', kind, url],
    queryFn: async ({ signal }) => {
      const first = await forgeKinds[kind].repositories(url, 0, signal)
      const items = [...first.items]
      while (items.length < first.total) {
        const next = await forgeKinds[kind].repositories(url, items.length, signal)
        if (next.items.length === 0) break
        items.push(...next.items)
      }
      return items
    },
    retry: false,
  })
