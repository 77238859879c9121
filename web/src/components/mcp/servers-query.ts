import { queryOptions } from '@tanstack/react-query'
import { allItems } from '../../api/all-items.ts'
import { call } from '../../api/client.ts'

/** The MCP servers of a repository; null: of the organization. */
export const serversQuery = (repo_id: number | null) =>
  queryOptions({
    queryKey: ['mcp-servers', repo_id],
    queryFn: ({ signal }) =>
      allItems(skip => {
        const query = { limit: 100, skip }
        return repo_id === null
          ? call('listMcpServers', { query, signal })
          : call('listRepositoryMcpServers', { params: { repo_id }, query, signal })
      }),
  })
