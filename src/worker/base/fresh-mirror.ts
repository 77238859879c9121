import { actionTool } from '../../contract/runs/action-tools.ts'
import { pause } from '../../core/pause.ts'
import { exponential, retryDelay } from '../../core/retry-policy.ts'
import { mirrorState } from '../../git/mirrors/mirror-refs.ts'
import { refreshMirror } from '../../git/mirrors/mirrors.ts'
import { GitError } from '../../git/process/git-error.ts'
import { resolveRef } from '../../git/read/revisions.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { errorEntry } from '../../trace/entry.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'

const MAX_FETCHES = 3
/** Milliseconds. */
const retries = exponential(1_000, 8_000)
/** No fetch is retried when the first ones took longer than this. */
const MAX_FETCHING_MS = 60_000

/**
 * `requested_at`: the remote must be read after this, in ms by the clock of this machine. `ref`: null for the
 * default branch.
 */
type MirrorRequest = {
  repository: RepositoryRow
  ref: string | null
  requested_at: number
  signal: AbortSignal
}

/**
 * Resolves a ref to a commit after a refresh of the mirror. While the mirror does not have the ref, a remote
 * that is unavailable is tried three times in all; every wait is in the trace before it begins.
 */
export async function resolveFresh(
  deps: Pick<WorkerServices, 'git' | 'git_limits'>,
  writer: RunWriter,
  { repository, ref, requested_at, signal }: MirrorRequest,
) {
  const started = performance.now()
  for (let attempt = 1; ; attempt++) {
    const unreachable = await refreshIfOld(deps, repository, requested_at, signal)
    const found = await resolveRef(deps.git, repository.id, ref)
    const may_retry =
      unreachable?.retryable === true &&
      attempt < MAX_FETCHES &&
      performance.now() - started < MAX_FETCHING_MS
    if (found !== null || !may_retry || signal.aborted) return { found, unreachable }
    const { code, message } = unreachable
    const wait = retryDelay(retries, attempt)
    const details = { code, message, retryable: true, phase: 'clone', attempt, retry_in_ms: Math.round(wait) }
    await writer.append({ entries: [errorEntry(details, actionTool.git_clone)] })
    await pause(wait, signal).catch(() => {})
  }
}

/**
 * Refreshes the mirror unless its last refresh began after `requested_at`, perhaps for another run. Returns
 * the error of a failed refresh.
 */
export async function refreshIfOld(
  deps: Pick<WorkerServices, 'git' | 'git_limits'>,
  repository: RepositoryRow,
  requested_at: number,
  signal: AbortSignal,
): Promise<GitError | null> {
  const state = await mirrorState(deps.git, repository.id)
  const refreshed_at = state === null ? 0 : Date.parse(state.refreshed_at)
  // A time in the future was stamped before the clock was set back: the real age is unknown.
  if (refreshed_at > requested_at && refreshed_at <= Date.now()) return null
  try {
    await refreshMirror(deps.git, repository, {
      since: requested_at,
      timeout_ms: deps.git_limits.fetch_ms,
      wait_ms: deps.git_limits.fetch_ms,
      signal,
    })
    return null
  } catch (error) {
    if (error instanceof GitError) return error
    throw error
  }
}
