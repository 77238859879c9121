import { setTimeout as delay } from 'node:timers/promises'
import { GitError } from '../git/git-error.ts'
import { hasOtherCommits, pushBranch } from '../git/push.ts'
import { recordPush } from '../store/changes.ts'
import { serviceAction } from '../trace/agent-entries.ts'
import { entry, errorEntry } from '../trace/entry.ts'
import type { Base } from './base.ts'
import type { Claim } from './claim.ts'
import type { Control } from './control.ts'
import type { WorkerDeps } from './settings.ts'

/** What git cannot name is hardly going to pass by itself. */
const ATTEMPTS_OF_THE_UNKNOWN = 3
const FIRST_WAIT_MS = 2_000
const LONGEST_WAIT_MS = 5 * 60_000

/** `taken`: the branch is not new, and what is on it is not known here. */
export type NotPushed =
  | { kind: 'taken' }
  | { kind: 'refused'; message: string }
  | { kind: 'failed'; reason: 'git_unavailable'; code: string; message: string }

/**
 * Pushes the run's branch. A remote that is away is tried again for `push_retry_ms`, ever less often: the commit is in the mirror meanwhile,
 * and the run stays `running` in phase `push`. Every wait stands in the trace before it is waited. Null: pushed. `is_new`: nothing was pushed to
 * this branch yet, as far as is known.
 */
export async function pushRunBranch(
  deps: WorkerDeps,
  claim: Claim,
  base: Base,
  head: string,
  is_new: boolean,
  control: Control,
): Promise<NotPushed | null> {
  const { signal } = control
  const input = { repository: base.repository.url, branch: base.branch, sha: head }
  const ends_at = performance.now() + deps.push_retry_ms
  for (let attempt = 1; ; attempt++) {
    const started = performance.now()
    const action = (output: Record<string, unknown>) => serviceAction('git_push', input, output, performance.now() - started)
    try {
      const { status } = await pushBranch(deps.git, base.repository, head, base.branch, { signal, timeout_ms: deps.git_limits.push_ms })
      await deps.db.transaction(async tx => {
        await claim.append({ entries: [action({ status: 'ok', result: status })] }, tx)
        await recordPush(tx, claim.organization_id, claim.run_id, claim.epoch, base.branch, head)
      })
      return null
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      const { message } = error
      const code = `push_${error.code}`
      const failed = action({ status: 'error', error: message })
      if (is_new && hasOtherCommits(error)) {
        await claim.append({ entries: [failed] })
        return { kind: 'taken' }
      }
      const wait = waitBefore(attempt, error)
      if (wait !== null && performance.now() + wait < ends_at) {
        const known = errorEntry({ code, message, retryable: true, phase: 'push', attempt, retry_in_ms: Math.round(wait) }, 'git_push')
        await claim.append({ entries: attempt === 1 ? [failed, known] : [known] })
        await control.whileIdle(delay(wait, undefined, { signal }).catch(() => {}))
        if (!signal.aborted) continue
        return { kind: 'failed', reason: 'git_unavailable', code, message }
      }
      const refused = error.code === 'rejected'
      const details = { code: error.code, message, http_status: null, retryable: !refused, attempt }
      await claim.append({
        entries: [
          failed,
          // A failure that ends the run has its ERROR as the last entry of the turn.
          ...(refused ? [errorEntry({ code, message, retryable: false, phase: 'push' }, 'git_push')] : []),
          entry({ message_type: 'PR_CREATION_FAILED', observation: details, tool_name: 'git_push', tool_input: input }),
        ],
      })
      return refused ? { kind: 'refused', message } : { kind: 'failed', reason: 'git_unavailable', code, message }
    }
  }
}

/** Milliseconds, ever more of them and never quite the same: many runs may wait for one server. Null: it is not going to pass. */
function waitBefore(attempt: number, error: GitError): number | null {
  if (!error.retryable && !(error.code === 'failed' && attempt < ATTEMPTS_OF_THE_UNKNOWN)) return null
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS) * (0.5 + Math.random() / 2)
}
