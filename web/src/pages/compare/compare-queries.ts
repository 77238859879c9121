import { queryOptions } from '@tanstack/react-query'
import type { LogEntry } from '../../../../src/contract/runs/logs.ts'
import { call } from '../../api/client.ts'

const PAGE = 100
/** Tool calls of each run that are compared. */
export const MAX_STEPS = 1_000

/** The first tool calls of a run. `state`: what makes a different response likely. */
export const stepsQuery = (agent_run_id: number, state: string) =>
  queryOptions({
    queryKey: ['compared-steps', agent_run_id, state],
    queryFn: async ({ signal }) => {
      const all: LogEntry[] = []
      while (all.length < MAX_STEPS) {
        const after_seq = all.at(-1)?.seq ?? 0
        const query = { message_type: 'ACTION' as const, after_seq, limit: PAGE }
        const { logs } = await call('getAgentRunLogs', { params: { agent_run_id }, query, signal })
        all.push(...logs)
        if (logs.length < PAGE) break
      }
      return all
    },
    placeholderData: previous => previous,
  })
