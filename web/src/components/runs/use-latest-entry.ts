import { useQuery } from '@tanstack/react-query'
import type { LogEntry, MessageType } from '../../../../src/contract/runs/logs.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'

type Which = { message_type: MessageType; tool_name?: string }

/** The newest entry of a kind, fetched again when the run has new entries. Null: none, or not `wanted`. */
export function useLatestEntry(run: AgentRun, which: Which, wanted: boolean): LogEntry | null {
  const query = useQuery({
    queryKey: ['latest', run.id, which, run.total_logs],
    queryFn: ({ signal }) =>
      call('getAgentRunLogs', { params: { agent_run_id: run.id }, query: { ...which, reverse: true, limit: 1 }, signal }),
    placeholderData: previous => previous,
    enabled: wanted,
  })
  return (wanted && query.data?.logs[0]) || null
}
