import type { Transactional } from '../store/database.ts'
import { insertEvent } from '../store/events.ts'
import { notifyRun } from '../store/notify.ts'
import type { PullRequestRow } from '../store/pull-requests.ts'
import { mirrorRemote, recordRemoteDraft } from '../store/remote-pull-requests.ts'
import { lockRun } from '../store/runs.ts'
import type { OnForge } from './forges.ts'
import type { RemotePullRequest } from './port.ts'

/**
 * Brings a pull request of ours and the one on its forge together: what became of it there is taken over, and whether it is a draft goes to
 * the side that does not know it yet. Rejects with ForgeError while the forge does not answer; then nothing was changed.
 */
export async function syncPullRequest(db: Transactional, { forge, repository }: OnForge, pr: PullRequestRow): Promise<void> {
  if (pr.remote_number === null || pr.state === 'merged') return
  const seen = await forge.getPullRequest(repository, pr.remote_number)
  const ended = seen.state === 'closed' || seen.state === 'merged'
  if (ended || pr.state === 'closed' || (seen.state === 'draft') !== (pr.remote_draft ?? false)) return takeOver(db, pr, seen)
  if ((pr.state === 'draft') === (seen.state === 'draft')) return
  await forge.setDraft(repository, pr.remote_number, pr.state === 'draft')
  await recordRemoteDraft(db, pr.organization_id, pr.id, pr.state === 'draft')
}

/** What somebody did there, with all that belongs to it here. */
export async function takeOver(db: Transactional, pr: PullRequestRow, seen: RemotePullRequest): Promise<void> {
  await db.transaction(async tx => {
    // The run comes first, as with its worker: otherwise the two could wait for each other.
    const run = pr.run_id === null ? undefined : await lockRun(tx, pr.organization_id, pr.run_id)
    if (!(await mirrorRemote(tx, pr.organization_id, pr.id, seen)) || !run) return
    await insertEvent(tx, pr.organization_id, run.id, 'agent_run.pull_request', { pr_number: pr.number, state: seen.state })
    await notifyRun(tx, pr.organization_id, run.id)
  })
}
