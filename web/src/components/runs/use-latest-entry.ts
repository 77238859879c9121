import { useQuery } from '@tanstack/react-query'
import type { LogEntry, MessageType } from '../../../../src/contract/runs/logs.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'

type Which = { message_type: MessageType; tool_name?: string }

/**
 * The newest entry of a kind, fetched again when the run has new entries. Null: no entry, or not `wanted`.
 */
export const useLatestEntry = (run: AgentRun, which: Which, wanted: boolean): LogEntry | null =>
  useLatestEntries(run, which, { limit: 1, wanted })[0] ?? null

/** The newest entries of a kind, the newest first. */
export function useLatestEntries(
  run: AgentRun,
  which: Which,
  { limit, wanted }: { limit: number; wanted: boolean },
): LogEntry[] {
  const query = useQuery({
    queryKey: ['latest', run.id, which, limit, run.total_logs],
    queryFn: ({ signal }) =>
      call('getAgentRunLogs', {
        params: { agent_run_id: run.id },
        query: { ...which, reverse: true, limit },
        signal,
      }),
    placeholderData: previous => previous,
    enabled: wanted,
  })
  return wanted ? (query.data?.logs ?? []) : []
}
