import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { followRun } from '../../../../src/client/sdk/follow.ts'
import { isSignedOut } from '../../api/api-error.ts'
import { core } from '../../api/client.ts'
import { followWhileVisible } from '../../api/visible-tab-stream.ts'
import { afterEvent, no_progress, type SetupProgress } from '../../trace/setup/setup-progress.ts'

/**
 * Follows the setup of a run from its first entry to its end. `problem`: why it cannot be followed. The
 * component has the id as its key.
 */
export function useSetupProgress(agent_run_id: number): { progress: SetupProgress; problem: Error | null } {
  const router = useRouter()
  const [progress, setProgress] = useState(no_progress)
  const [problem, setProblem] = useState<Error | null>(null)
  useEffect(() => {
    setProgress(no_progress)
    return followWhileVisible({
      open: (position, connection) => followRun(core, agent_run_id, position, connection),
      after_seq: 0,
      on_event: event => setProgress(old => afterEvent(old, event)),
      on_state: state => {
        // The command may end meanwhile; entries are resumed, output is not.
        if (state.name === 'reconnecting') setProgress(old => ({ ...old, running: null }))
        if (state.name !== 'ended') return
        if (isSignedOut(state.problem)) void router.invalidate()
        setProblem(state.problem)
      },
    })
  }, [agent_run_id, router])
  return { progress, problem }
}
