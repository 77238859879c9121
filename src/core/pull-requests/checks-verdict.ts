import type {
  CheckConclusion,
  CheckSource,
  CheckStatus,
  ChecksSummary,
} from '../../contract/pull-requests/checks.ts'

export type SeenCheck = {
  name: string
  source: CheckSource
  app: string | null
  status: CheckStatus
  conclusion: CheckConclusion | null
  /** The settings of its repository exclude the check. */
  ignored: boolean
}

const PASSED: readonly CheckConclusion[] = ['success', 'neutral', 'skipped']
/** A code change may fix these; any other conclusion except success needs a person. */
const FIXABLE: readonly CheckConclusion[] = ['failure', 'timed_out', 'startup_failure']

export const hasPassed = ({ conclusion }: Pick<SeenCheck, 'conclusion'>) =>
  conclusion !== null && PASSED.includes(conclusion)
export const isFixable = ({ conclusion }: Pick<SeenCheck, 'conclusion'>) =>
  conclusion !== null && FIXABLE.includes(conclusion)
export const hasFailed = (check: Pick<SeenCheck, 'conclusion'>) =>
  check.conclusion !== null && !hasPassed(check)

type ChecksVerdict<C extends SeenCheck> = Omit<ChecksSummary, 'unreadable'> & {
  failing: C[]
  /** Whether there is nothing to wait for: all have ended, or a check of a high-priority app has failed. */
  settled: boolean
}

/**
 * Returns the combined result of the checks of one commit. `high_priority`: apps whose failures are worked on
 * while other checks still run.
 */
export function checksVerdict<C extends SeenCheck>(
  checks: readonly C[],
  high_priority: readonly string[] = [],
): ChecksVerdict<C> {
  const counted = checks.filter(check => !check.ignored)
  const failing = counted.filter(hasFailed)
  const passed = counted.filter(hasPassed).length
  const failed = failing.length
  const pending = counted.length - passed - failed
  const state = counted.length === 0 ? 'none' : failed > 0 ? 'failure' : pending > 0 ? 'pending' : 'success'
  const urgent = failing.some(({ app }) => app !== null && high_priority.includes(app))
  return { state, passed, failed, pending, failing, settled: pending === 0 || urgent }
}
