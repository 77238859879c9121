import { setTimeout as delay } from 'node:timers/promises'
import { exponential, retryDelay } from '../../core/retry-policy.ts'
import type { OnForge } from '../../forge/forges.ts'
import { ForgeError, type NewRemotePullRequest, type RemotePullRequest } from '../../forge/port.ts'
import { syncPullRequest } from '../../forge/sync.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { listPullRequests } from '../../store/pull-requests/pull-requests.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { entry } from '../../trace/entry.ts'
import type { Control } from '../claim/control.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'

/** Milliseconds. */
const retries = exponential(2_000, 5 * 60_000)
/** A branch that was pushed a moment ago may not be seen by all of a forge yet. */
const ATTEMPTS_OF_A_NEW_BRANCH = 4

/** `local`: the repository is on no forge that is connected. */
export type Proposed = { kind: 'local' } | { kind: 'made'; pr: RemotePullRequest } | { kind: 'failed' }

/**
 * The pull request of the pushed branch on the forge: the one that is there, or a new one. Whoever asks again, after an answer was lost or a
 * worker, finds what was made before: a forge has one open pull request of a branch, and is looked into first. A forge that is away, or asks
 * for time, is tried again for `push_retry_ms`; every failure stands in the trace before it is waited for. `failed`: the branch is there, and
 * the next turn tries again.
 */
export async function proposeOnForge(
  deps: WorkerDeps,
  writer: RunWriter,
  repository: RepositoryRow,
  wanted: NewRemotePullRequest,
  control: Control,
): Promise<Proposed> {
  const { signal } = control
  const ends_at = performance.now() + deps.push_retry_ms
  for (let attempt = 1; ; attempt++) {
    try {
      const on = await deps.forges.of(repository)
      return on === null ? { kind: 'local' } : { kind: 'made', pr: await findOrCreate(on, wanted) }
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      const wait = waitBefore(attempt, error)
      const again = wait !== null && performance.now() + wait < ends_at && !signal.aborted
      const { code, http_status } = error
      const message = await writer.redactor.text(error.message)
      const observation = { code, message, http_status, retryable: wait !== null, attempt, ...(again && { retry_in_ms: Math.round(wait) }) }
      const tool_input = { repository: repository.full_name, ...wanted, body: undefined }
      await writer.append({
        entries: [entry({ message_type: 'PR_CREATION_FAILED', tool_name: 'create_pull_request', tool_input, observation })],
      })
      if (!again) return { kind: 'failed' }
      await control.whileIdle(delay(wait, undefined, { signal }).catch(() => {}))
      if (signal.aborted) return { kind: 'failed' }
    }
  }
}

async function findOrCreate({ forge, repository }: OnForge, wanted: NewRemotePullRequest): Promise<RemotePullRequest> {
  const found = await forge.findPullRequest(repository, wanted.head_branch)
  if (found !== null) return found
  try {
    return await forge.createPullRequest(repository, wanted)
  } catch (error) {
    // Somebody was first, or our own request that was never answered.
    if (!(error instanceof ForgeError) || error.code !== 'refused' || !/already exists/i.test(error.message)) throw error
    const made = await forge.findPullRequest(repository, wanted.head_branch)
    if (made === null) throw error
    return made
  }
}

/** Milliseconds until the next attempt, at least what the forge requests; null: the failure is permanent. */
function waitBefore(attempt: number, error: ForgeError): number | null {
  const unseen = error.code === 'refused' && /\bhead\b/.test(error.message) && attempt < ATTEMPTS_OF_A_NEW_BRANCH
  if (!error.retryable && !unseen) return null
  return retryDelay(retries, attempt, (error.retry_after_seconds ?? 0) * 1_000)
}

/** Takes over what became of the run's pull requests on their forge, and tells it of ours. One that does not answer now changes nothing. */
export async function syncWithForge(deps: WorkerDeps, run: RunRow, repository: RepositoryRow): Promise<void> {
  const rows = await listPullRequests(deps.db, run.organization_id, [run.id])
  if (!rows.some(pr => pr.remote_number !== null)) return
  try {
    const on = await deps.forges.of(repository)
    if (on !== null) for (const pr of rows) await syncPullRequest(deps.db, on, pr)
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    deps.log('warn', 'a forge could not be asked', { code: error.code, error: error.message })
  }
}
