import { actionTool } from '../../contract/runs/action-tools.ts'
import { pause } from '../../core/pause.ts'
import { exponential, retryDelay } from '../../core/retry-policy.ts'
import { shortError } from '../../core/text/truncate.ts'
import type { OnForge } from '../../forge/forges.ts'
import { ForgeError, type NewRemotePullRequest, type RemotePullRequest } from '../../forge/port.ts'
import { syncPullRequest } from '../../forge/sync.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { listPullRequests } from '../../store/pull-requests/pull-requests.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { entry } from '../../trace/entry.ts'
import type { Control } from '../claim/control.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerServices } from '../services.ts'

/** Milliseconds. */
const retries = exponential(2_000, 5 * 60_000)
/** All servers of a forge may not see a branch yet that was just pushed. */
const MAX_NEW_BRANCH_ATTEMPTS = 4

/** `local`: the repository is not on a connected forge. */
type ForgeProposal =
  | { kind: 'local' }
  | { kind: 'created'; pr: RemotePullRequest }
  | { kind: 'failed'; message: string }

/**
 * Returns the pull request of the pushed branch on the forge, or creates it. A forge has at most one open
 * pull request per branch, so a retry finds the one whose creation was not reported. A forge that is
 * unavailable or rate-limited is retried for `push_retry_ms`; every failure is in the trace before the wait.
 * `failed`: the branch is pushed, and the next turn tries again.
 */
export async function proposeOnForge(
  deps: Pick<WorkerServices, 'forges' | 'push_retry_ms'>,
  writer: RunWriter,
  repository: RepositoryRow,
  wanted: NewRemotePullRequest,
  control: Control,
): Promise<ForgeProposal> {
  const { signal } = control
  const ends_at = performance.now() + deps.push_retry_ms
  for (let attempt = 1; ; attempt++) {
    try {
      const on = await deps.forges.of(repository)
      return on === null ? { kind: 'local' } : { kind: 'created', pr: await findOrCreate(on, wanted) }
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      const wait = waitBefore(attempt, error)
      const retried = wait !== null && performance.now() + wait < ends_at && !signal.aborted
      const { code, http_status } = error
      const message = shortError(await writer.redactor.text(error.message))
      const observation = {
        code,
        message,
        http_status,
        retryable: wait !== null,
        attempt,
        ...(retried && { retry_in_ms: Math.round(wait) }),
      }
      const tool_input = { repository: repository.full_name, ...wanted, body: undefined }
      await writer.append({
        entries: [
          entry({
            message_type: 'PR_CREATION_FAILED',
            tool_name: actionTool.create_pull_request,
            tool_input,
            observation,
          }),
        ],
      })
      if (!retried) return { kind: 'failed', message }
      await control.whileIdle(pause(wait, signal).catch(() => {}))
      if (signal.aborted) return { kind: 'failed', message }
    }
  }
}

async function findOrCreate(
  { forge, repository }: OnForge,
  wanted: NewRemotePullRequest,
): Promise<RemotePullRequest> {
  const found = await forge.findPullRequest(repository, wanted.head_branch)
  if (found !== null) return found
  try {
    return await forge.createPullRequest(repository, wanted)
  } catch (error) {
    // A person created it, or an earlier request whose response was lost.
    if (!(error instanceof ForgeError) || error.code !== 'refused' || !/already exists/i.test(error.message))
      throw error
    const created = await forge.findPullRequest(repository, wanted.head_branch)
    if (created === null) throw error
    return created
  }
}

/**
 * Milliseconds of exponential backoff with jitter, at least what the forge requests. Null: a retry would not
 * help.
 */
function waitBefore(attempt: number, error: ForgeError): number | null {
  const unseen =
    error.code === 'refused' && /\bhead\b/.test(error.message) && attempt < MAX_NEW_BRANCH_ATTEMPTS
  if (!error.retryable && !unseen) return null
  return retryDelay(retries, attempt, (error.retry_after_seconds ?? 0) * 1_000)
}

/**
 * Synchronizes the run's pull requests with their forge, in both directions. A forge that is unavailable
 * changes nothing.
 */
export async function syncWithForge(
  deps: Pick<WorkerServices, 'db' | 'forges' | 'push_retry_ms' | 'log'>,
  run: RunRow,
  repository: RepositoryRow,
): Promise<void> {
  const rows = await listPullRequests(deps.db, run.organization_id, [run.id])
  if (!rows.some(pr => pr.remote_number !== null)) return
  try {
    const on = await deps.forges.of(repository)
    if (on !== null) for (const pr of rows) await syncPullRequest(deps.db, on, pr)
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    deps.log('warn', 'pull requests could not be synchronized with their forge', {
      code: error.code,
      error: error.message,
    })
  }
}
