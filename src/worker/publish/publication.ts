import type { Proposal } from '../../agent/phases/proposal-text.ts'
import type { SendQuestion } from '../../agent/side-question.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import type { Failure, WaitingOutcome } from '../../core/runs/outcome.ts'
import type { CommitGap } from '../../git/workspace/commit-gaps.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Base } from '../base/base.ts'
import type { Control } from '../claim/control.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'
import type { BundleFile } from './bundle-file.ts'

/**
 * A review that returned the work to the agent earlier in the turn. `reset_to`: the commit that its next
 * commit replaces the later ones on; null: they stay.
 */
type Correction = { reset_to: string | null }

/** The words of a commit. */
export type CommitWords = { message: string; author: { name: string; email: string }; at: Date }

/** What a turn publishes, and with what. */
export type Publication = {
  /** `sendQuestion`: sends a question about the change to the run's model. */
  deps: Pick<
    WorkerServices,
    | 'db'
    | 'log'
    | 'git'
    | 'git_limits'
    | 'author'
    | 'forges'
    | 'push_retry_ms'
    | 'base_url'
    | 'folders'
    | 'models'
    | 'approve_ci_changes'
  > & { sendQuestion: SendQuestion }
  writer: RunWriter
  control: Control
  run: RunRow
  base: Base
  sandbox: Sandbox
  /** The final answer of the agent. */
  answer: string
  sent_back: readonly Correction[]
}

/** A publication whose files are committed as `head` in the workspace. */
export type CommittedPublication = Publication & {
  head: string
  gaps: readonly CommitGap[]
  commit: CommitWords
  words: Proposal
  bundle: BundleFile
}

/**
 * `nothing`: there is no change; `pushed`: with the refusal of its pull request, if the forge refused that;
 * `refused`: the remote rejected it, the message belongs to the answer and the work is kept. `uncommitted`:
 * paths with changes that the commit lacks.
 */
export type PublishResult =
  | { kind: 'nothing'; uncommitted: readonly string[] }
  | { kind: 'pushed'; head: string; is_new: boolean; refusal: string | null; uncommitted: readonly string[] }
  | { kind: 'refused'; message: string }

/**
 * The agent must fix the change first, a person must approve it first, or it could not be exported or pushed.
 */
export type NotPublished = { kind: 'sent_back' } | WaitingOutcome | Failure

/** Returns the paths with changes that a commit lacks. */
export const uncommittedPaths = (gaps: readonly CommitGap[]): string[] =>
  gaps.filter(({ kind }) => kind !== 'lfs').map(({ path }) => path)

/** Returns the failure of a publication. */
export function notPublished(reason: Failure['reason'], code: string, message: string): Failure {
  return {
    kind: 'failed',
    reason,
    code,
    message,
    phase: 'push',
    tool_name: reason === 'git_unavailable' ? actionTool.git_push : null,
  }
}
