import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import type { StreamState } from '../api/reconnecting-stream.ts'
import { dropRun, putRun } from '../api/run-cache.ts'
import { isSignedOut } from '../api/session.ts'
import { followLive } from '../api/visible-tab-stream.ts'

/** Keeps every run that is shown up to date through the organization's stream. */
export function useLiveRuns(): StreamState {
  const queries = useQueryClient()
  const router = useRouter()
  const [state, setState] = useState<StreamState>({ name: 'connecting' })
  useEffect(() => {
    let seen = false
    return followLive({
      target: 'organization',
      after_seq: null,
      on_event: ({ event, id, data }) => {
        seen ||= id !== null
        if (event !== 'run') return
        const { run, agent_run_id } = data as { run: AgentRun | null; agent_run_id: number }
        if (run) putRun(queries, run)
        else dropRun(queries, agent_run_id)
      },
      on_state: next => {
        setState(next)
        // Before the first id there is nothing to resume from: what happened until the stream was open is asked for.
        if (next.name === 'live' && !seen) void queries.invalidateQueries({ queryKey: ['runs'] })
        if (next.name === 'ended' && isSignedOut(next.problem)) void router.invalidate()
      },
    })
  }, [queries, router])
  return state
}
