import { queryOptions } from '@tanstack/react-query'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { statusOf } from '../../api/api-error.ts'
import { call } from '../../api/client.ts'

const MAX_FOUND = 6

/**
 * The run with this number, if the text is one, and the newest runs whose title or prompt contains the text.
 */
export const foundRunsQuery = (text: string) =>
  queryOptions({
    queryKey: ['found-runs', text],
    queryFn: async ({ signal }): Promise<AgentRun[]> => {
      const number = /^#?(\d{1,15})$/.exec(text)?.[1]
      const [numbered, { items }] = await Promise.all([
        number === undefined ? null : runOf(Number(number), signal),
        call('listAgentRuns', { query: { q: text || undefined, limit: MAX_FOUND }, signal }),
      ])
      return numbered === null ? items : [numbered, ...items.filter(({ id }) => id !== numbered.id)]
    },
  })

const runOf = (agent_run_id: number, signal: AbortSignal) =>
  call('getAgentRun', { params: { agent_run_id }, signal }).catch((error: unknown) => {
    if (statusOf(error) === 404) return null
    throw error
  })
