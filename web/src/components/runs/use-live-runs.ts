import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { followOrganization } from '../../../../src/client/sdk/follow.ts'
import { isSignedOut } from '../../api/api-error.ts'
import { core } from '../../api/client.ts'
import { dropRun, putRun } from '../../api/run-cache.ts'
import { followWhileVisible, type StreamState } from '../../api/visible-tab-stream.ts'

/** Keeps every run that is shown up to date through the organization's stream. */
export function useLiveRuns(): StreamState {
  const queries = useQueryClient()
  const router = useRouter()
  const [state, setState] = useState<StreamState>({ name: 'connecting' })
  useEffect(() => {
    let seen = false
    return followWhileVisible({
      open: (position, connection) => followOrganization(core, position, connection),
      on_event: ({ run, agent_run_id }) => {
        seen = true
        if (run) putRun(queries, run)
        else dropRun(queries, agent_run_id)
      },
      on_state: next => {
        setState(next)
        // Before the first event there is nothing to resume from: what happened until the stream was open is
        // loaded again.
        if (next.name === 'live' && !seen) void queries.invalidateQueries({ queryKey: ['runs'] })
        if (next.name === 'ended' && isSignedOut(next.problem)) void router.invalidate()
      },
    })
  }, [queries, router])
  return state
}
