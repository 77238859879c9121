import { useQuery } from '@tanstack/react-query'
import type { RunTimeline } from '../../../../../src/contract/runs/timeline.ts'
import { call } from '../../../api/client.ts'

const REFRESH_MS = 3_000

/** The timeline of a run, fetched again while the run grows. `total`: the number of its entries. */
export function useTimeline(agent_run_id: number, total: number): RunTimeline | undefined {
  const { data } = useQuery({
    queryKey: ['timeline', agent_run_id],
    queryFn: ({ signal }) => call('getAgentRunTimeline', { params: { agent_run_id }, signal }),
    refetchInterval: ({ state }) =>
      state.data === undefined || state.data.total_logs < total ? REFRESH_MS : false,
  })
  return data
}
