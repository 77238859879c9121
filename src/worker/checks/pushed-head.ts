import type { CheckCommandsInput } from '../../contract/pull-requests/checks.ts'
import type { UnreadableChecks } from '../../core/forges/forge-permissions.ts'
import type { CheckRound } from '../../core/pull-requests/check-rounds.ts'
import type { CheckSettings } from '../../core/pull-requests/check-settings.ts'
import type { CheckRow } from '../../store/pull-requests/checks.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { WorkerServices } from '../services.ts'
import type { CheckSandboxesInput } from './check-sandboxes.ts'

/** A turn that follows the checks of what it pushed. */
export type AwaitChecksInput = Omit<CheckSandboxesInput, 'head_sha'> & {
  deps: Pick<
    WorkerServices,
    'ci_wait_seconds' | 'ci_first_seconds' | 'ci_poll_seconds' | 'forges' | 'push_retry_ms' | 'base_url'
  >
  /** The attempts of this turn to fix failing checks. */
  rounds: readonly CheckRound[]
  /** The turn started because checks failed after the run had ended. */
  started_by_checks: boolean
  /** The final answer of the agent. */
  answer: string
}

export type KnownCheck = CheckRow & { ignored: boolean }

/** The pushed commit with everything that decides about its checks. */
export type PushedHead = {
  sha: string
  checks: KnownCheck[]
  commands: CheckCommandsInput['checks']
  settings: CheckSettings
  pr: PullRequestRow | null
  unreadable: UnreadableChecks
}
