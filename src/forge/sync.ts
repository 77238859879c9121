import type { ForgeResource } from '../contract/repositories/forge-resources.ts'
import { checkResources } from '../core/forges/forge-permissions.ts'
import { reportsOf } from '../core/forges/remote-check.ts'
import type { Db, Transactional } from '../store/database.ts'
import { recordGaps } from '../store/forges/forge-gaps.ts'
import { listChecks, saveCheck } from '../store/pull-requests/checks.ts'
import type { PullRequestRow } from '../store/pull-requests/pull-requests.ts'
import { mirrorRemote, recordRemoteDraft } from '../store/pull-requests/remote-pull-requests.ts'
import { reportRun } from '../store/runs/change-run.ts'
import { lockRun } from '../store/runs/runs.ts'
import type { OnForge } from './forges.ts'
import { ForgeError, type RemotePullRequest } from './port.ts'

/**
 * Syncs a pull request with the one on its forge: the state there is taken over, and draft or not goes to the
 * side that does not have it yet. Returns the one on the forge as it is then; null: there is none, or it is
 * merged here. Rejects with ForgeError, and then nothing was changed.
 */
export async function syncPullRequest(
  db: Transactional,
  { forge, repository }: OnForge,
  pr: PullRequestRow,
): Promise<RemotePullRequest | null> {
  if (pr.remote_number === null || pr.state === 'merged') return null
  const seen = await forge.getPullRequest(repository, pr.remote_number)
  const ended = seen.state === 'closed' || seen.state === 'merged'
  if (ended || pr.state === 'closed' || (seen.state === 'draft') !== (pr.remote_draft ?? false)) {
    await saveRemoteState(db, pr, seen)
    return seen
  }
  if ((pr.state === 'draft') === (seen.state === 'draft')) return seen
  await forge.setDraft(repository, seen, pr.state === 'draft')
  await recordRemoteDraft(db, pr.organization_id, pr.id, pr.state === 'draft')
  return { ...seen, state: pr.state }
}

/** Saves the state on the forge, with its event and notification. */
export async function saveRemoteState(
  db: Transactional,
  pr: PullRequestRow,
  seen: RemotePullRequest,
): Promise<void> {
  await db.transaction(async tx => {
    // The run is locked first, as its worker does: otherwise the two could deadlock.
    const run = pr.run_id === null ? undefined : await lockRun(tx, pr.organization_id, pr.run_id)
    if (!(await mirrorRemote(tx, pr.organization_id, pr.id, seen)) || !run) return
    await reportRun(tx, run, {
      event: { type: 'agent_run.pull_request', body: { pr_number: pr.number, state: seen.state } },
    })
  })
}

type Repository = { organization_id: number; id: number }

const keyOf = ({ connection_id: forge_id }: OnForge, { organization_id, id: repository_id }: Repository) => ({
  organization_id,
  forge_id,
  repository_id,
})

/**
 * Reads the checks of a commit from its forge, saves them, and records what the credentials may not read.
 * `excerptOf`: what is kept of the output of a check. Returns how many there are. Rejects with ForgeError
 * while the forge is unavailable.
 */
export async function saveRemoteChecks(
  db: Db,
  on: OnForge,
  repository: Repository,
  head_sha: string,
  excerptOf: (text: string) => Promise<string>,
): Promise<number> {
  const { organization_id, id } = repository
  const source = on.forge.kind
  // Read before the request: a late response is then of an earlier attempt than what others have recorded
  // meanwhile.
  const known = (await listChecks(db, organization_id, [{ repository_id: id, head_sha }])).filter(
    check => check.source === source,
  )
  const { checks, gaps } = await on.forge.listChecks(on.repository, head_sha)
  await recordGaps(db, keyOf(on, repository), checkResources, gaps)
  for (const report of reportsOf(checks, known, { head_sha, source, excerptOf: text => text })) {
    const log_excerpt = report.log_excerpt && ((await excerptOf(report.log_excerpt)) || null)
    await saveCheck(db, organization_id, id, { ...report, log_excerpt })
  }
  return checks.length
}

/** Runs `work`, and records whether the credentials lack the permission for it. Rejects as `work` does. */
export async function noticingGap<T>(
  db: Db,
  on: OnForge,
  repository: Repository,
  resource: ForgeResource,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work()
    await recordGaps(db, keyOf(on, repository), [resource], [])
    return result
  } catch (error) {
    if (error instanceof ForgeError && error.code === 'forbidden')
      await recordGaps(db, keyOf(on, repository), [resource], [{ resource, detail: error.message }])
    throw error
  }
}
