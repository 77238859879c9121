import type { RunStatus, StatusReason, WaitingReason } from '../../contract/runs/runs.ts'

/** The name of our status among the checks of a commit. */
export const MARK_NAME = 'agentrun'

/**
 * The state of a run as a status of its commit. It contains only fixed text, because everybody who sees the
 * repository can read it.
 */
export type RunMark = {
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: 'success' | 'failure' | 'cancelled' | 'neutral' | null
  title: string
}

type MarkedRun = {
  status: RunStatus
  status_reason: StatusReason | null
  waiting_on: WaitingReason | null
  /** The run has pushed a newer commit, or has left the branch. */
  superseded: boolean
  /** Why failing checks are no longer worked on; null: no check fails, or no reason was given. */
  checks_given_up: string | null
}

const waits: Record<WaitingReason, string> = {
  user_input: 'Waiting for an answer',
  tool_approval: 'Waiting for an approval',
  // The same text as before and after: the checks are listed beside the status, and each update counts
  // against a rate limit.
  ci: 'Running',
}
const inProgress = (title: string): RunMark => ({ status: 'in_progress', conclusion: null, title })
const over = (conclusion: RunMark['conclusion'], title: string): RunMark => ({
  status: 'completed',
  conclusion,
  title,
})

/** Returns the status of a run; undefined: the run is deleted. */
export function runMark(run: MarkedRun | undefined): RunMark {
  if (run === undefined) return over('neutral', 'The run was deleted')
  if (run.superseded) return over('neutral', 'The run went on with another commit')
  if (run.status === 'queued') return { status: 'queued', conclusion: null, title: 'Waiting for a worker' }
  if (run.status === 'waiting') return inProgress(run.waiting_on === null ? 'Waiting' : waits[run.waiting_on])
  if (run.status === 'paused') return inProgress('Paused')
  if (run.status === 'cancelling') return inProgress('Stopping')
  if (run.status === 'cancelled') return over('cancelled', 'Stopped')
  if (run.status === 'failed')
    return over('failure', `Failed${run.status_reason === null ? '' : ` (${run.status_reason})`}`)
  if (run.status !== 'completed') return inProgress('Running')
  if (run.checks_given_up !== null)
    return over('neutral', `Completed, while checks do not pass (${run.checks_given_up})`)
  return run.status_reason === null
    ? over('success', 'Completed')
    : over('neutral', `Completed, not everything was done (${run.status_reason})`)
}

/** Returns a key of the status, so that the same status is not sent twice. */
export const markKey = ({ status, conclusion, title }: RunMark): string => `${status} ${conclusion} ${title}`
export const isOverKey = (key: string | null): boolean => key?.startsWith('completed ') === true
