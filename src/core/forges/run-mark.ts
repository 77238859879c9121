import type { RunStatus, StatusReason, WaitingReason } from '../../contract/runs/runs.ts'

/** What we are called among the checks of a commit. */
export const MARK_NAME = 'agentrun'

/** How a run stands, as it is said beside the checks of a commit. Words of ours alone: whoever sees the repository sees them. */
export type RunMark = {
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: 'success' | 'failure' | 'cancelled' | 'neutral' | null
  title: string
}

type Marked = {
  status: RunStatus
  status_reason: StatusReason | null
  waiting_on: WaitingReason | null
  /** The run has pushed another commit since, or has left the branch. */
  superseded: boolean
  /** Why checks that fail are worked on no more; null: none fails, or nobody has said so. */
  checks_given_up: string | null
}

const waits: Record<WaitingReason, string> = {
  user_input: 'Waiting for an answer',
  plan_approval: 'Waiting for an approval',
  tool_approval: 'Waiting for an approval',
  // The same as before and after it: the checks stand beside the mark, and each write of it counts against a rate limit.
  ci: 'At work',
}
const at_work = (title: string): RunMark => ({ status: 'in_progress', conclusion: null, title })
const over = (conclusion: RunMark['conclusion'], title: string): RunMark => ({ status: 'completed', conclusion, title })

/** Undefined: the run is deleted. */
export function runMark(run: Marked | undefined): RunMark {
  if (run === undefined) return over('neutral', 'The run was deleted')
  if (run.superseded) return over('neutral', 'The run went on with another commit')
  if (run.status === 'queued') return { status: 'queued', conclusion: null, title: 'Waiting for a worker' }
  if (run.status === 'waiting') return at_work(run.waiting_on === null ? 'Waiting' : waits[run.waiting_on])
  if (run.status === 'paused') return at_work('Paused')
  if (run.status === 'cancelling') return at_work('Stopping')
  if (run.status === 'cancelled') return over('cancelled', 'Stopped')
  if (run.status === 'failed') return over('failure', `Failed${run.status_reason === null ? '' : ` (${run.status_reason})`}`)
  if (run.status !== 'completed') return at_work('At work')
  return run.checks_given_up === null
    ? over('success', 'Completed')
    : over('neutral', `Completed, while checks do not pass (${run.checks_given_up})`)
}

/** One text for each thing that can be said, so that nothing is said twice. */
export const markKey = ({ status, conclusion, title }: RunMark): string => `${status} ${conclusion} ${title}`
export const isOverKey = (key: string | null): boolean => key?.startsWith('completed ') === true
