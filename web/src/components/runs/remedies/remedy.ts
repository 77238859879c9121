import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { duration } from '../../../text/format.ts'
import { isRecorded } from '../../../trace/recorded.ts'
import { hasFailingChecks } from '../run-numbers.ts'

type Budget = Partial<AgentRun['budget']>

/**
 * What lets a run continue. `resume` sends a message, with a larger budget if that is what it waits for;
 * `reply` and `approve` need a person at the follow-up box; `settings`: the organization's budget of the
 * month is used up.
 */
export type Remedy =
  | { kind: 'resume'; label: string; prompt: string; budget?: Budget }
  | { kind: 'reply'; label: string }
  | { kind: 'approve'; label: string }
  | { kind: 'settings'; label: string }

/** A new turn has new limits of the service. */
const ceilings: ReadonlySet<string> = new Set(['max_steps', 'out_of_tokens', 'timeout'])

const CONTINUE = 'Continue.'
const CHECK_FILES =
  'Changes of some of your actions may be missing from the files: check them, and repeat what is missing.'

/**
 * The remedy of a run that waits, is paused, has failed, did not do everything, or whose checks fail; null
 * when there is none.
 */
export function remedyOf(run: AgentRun): Remedy | null {
  if (run.banned || isRecorded(run)) return null
  if (run.status === 'waiting') return remedyOfWaiting(run)
  if (run.status === 'paused') {
    if (run.status_reason === 'budget')
      return raised(run) ?? { kind: 'settings', label: 'Open the budget of the organization' }
    return { kind: 'resume', label: 'Continue', prompt: CONTINUE }
  }
  if (run.status === 'failed') {
    const label = ceilings.has(run.status_reason ?? '') ? 'Continue with new limits' : 'Retry'
    return { kind: 'resume', label, prompt: CONTINUE }
  }
  if (hasFailingChecks(run))
    return {
      kind: 'resume',
      label: 'Fix the failing checks',
      prompt: 'Fix the failing checks of the pull request.',
    }
  const incomplete =
    run.status === 'completed' && run.status_reason !== null ? remedies[run.status_reason] : undefined
  return incomplete === undefined ? null : { kind: 'resume', ...incomplete }
}

const publishing = {
  label: 'Publish again',
  prompt:
    'Finish without another change, unless the work needs one: what is not published yet is published then.',
}
/** What may do what a completed run did not do. */
const remedies: Partial<Record<NonNullable<AgentRun['status_reason']>, { label: string; prompt: string }>> = {
  push_refused: publishing,
  pull_request_refused: publishing,
  review_failed: { label: 'Fix the findings', prompt: 'Fix the findings of the review.' },
  no_effect: { label: 'Retry', prompt: CONTINUE },
  last_response_missing: { label: 'Continue', prompt: CONTINUE },
  work_lost: { label: 'Check the work', prompt: CHECK_FILES },
}

function remedyOfWaiting({ waiting_on }: AgentRun): Remedy | null {
  if (waiting_on === 'tool_approval') return { kind: 'approve', label: 'Review and approve' }
  // After a reply it still waits, for a worker.
  return waiting_on === 'user_input' ? { kind: 'reply', label: 'Reply' } : null
}

type LimitedRun = Pick<AgentRun, 'budget' | 'error'>

/** The limit of a run's budget that its error names; null: it is none of the run. */
function limitOf({ budget, error }: LimitedRun): keyof AgentRun['budget'] | null {
  const names = Object.keys(budget) as (keyof AgentRun['budget'])[]
  return names.find(name => budget[name] !== null && error?.message.includes(name)) ?? null
}

/** Which limit of its own budget has paused a run: `Step limit reached (200)`, or null. */
export function reachedLimit({
  status_reason,
  ...run
}: LimitedRun & Pick<AgentRun, 'status_reason'>): string | null {
  const limit = status_reason === 'budget' ? limitOf(run) : null
  if (limit === null) return null
  const value = Number(run.budget[limit])
  const texts = {
    max_steps: `Step limit reached (${value})`,
    max_cost_usd: `Cost limit reached ($${value})`,
    max_active_seconds: `Limit of active time reached (${duration(value * 1000)})`,
    max_wall_seconds: `Time limit reached (${duration(value * 1000)})`,
  }
  return texts[limit]
}

/** Twice the limit that was reached, which the error of the run names; null: it is none of the run. */
function raised({ budget, error }: LimitedRun): Remedy | null {
  const limit = limitOf({ budget, error })
  if (limit === null) return null
  const doubled = 2 * Number(budget[limit])
  const to = {
    max_steps: `${doubled} steps`,
    max_cost_usd: `$${Number(doubled.toFixed(6))}`,
    max_active_seconds: `${duration(doubled * 1000)} of active time`,
    max_wall_seconds: duration(doubled * 1000),
  }
  const value = limit === 'max_cost_usd' ? String(Number(doubled.toFixed(6))) : doubled
  return {
    kind: 'resume',
    label: `Raise to ${to[limit]} and continue`,
    prompt: CONTINUE,
    budget: { [limit]: value },
  }
}
