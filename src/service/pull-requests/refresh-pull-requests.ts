import type { PullRequestState } from '../../contract/pull-requests/pull-requests.ts'
import { getRepository, type RepositoryRow } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import { closeGone, markMerged, recordHead } from '../../store/pull-requests/pull-request-moves.ts'
import type { WholePullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { Services } from '../context.ts'
import { recordPullRequestChange } from './change-pull-request.ts'

type Deps = Pick<Services, 'db' | 'git'>
type Check = Deps & { user_id: number | null; tips: Map<string, string> }

/** A page may name more than can be refreshed in time: the others are shown as last seen. */
const MAX_REPOSITORIES = 5
const MAX_PULL_REQUESTS = 20

/**
 * Refreshes open pull requests from their repositories: new heads, merges and squashes, and deleted head
 * branches, which close the pull request. Limited to the first 20 pull requests and 5 repositories, each
 * checked once. State and merge of a pull request on a connected forge come from that forge. An unreachable
 * repository changes nothing. `user_id`: the user who is known to have caused the changes. Returns the ids of
 * rows that are now out of date.
 */
export async function refreshPullRequests(
  deps: Deps,
  rows: readonly WholePullRequestRow[],
  user_id: number | null = null,
): Promise<Set<number>> {
  const changed = new Set<number>()
  const open = rows.filter(({ state }) => state === 'open' || state === 'draft').slice(0, MAX_PULL_REQUESTS)
  const ids = [...new Set(open.map(pr => pr.repository_id))].slice(0, MAX_REPOSITORIES)
  await Promise.all(
    ids.map(async id => {
      const of_repository = open.filter(pr => pr.repository_id === id)
      const repository = await getRepository(deps.db, of_repository[0]?.organization_id ?? 0, id)
      if (!repository) return
      const tips = await deps.git.tips(repository, [
        ...new Set(of_repository.flatMap(pr => [pr.base_branch, pr.head_branch])),
      ])
      if (!tips.ok) return
      for (const pr of of_repository)
        if (await refreshOne({ ...deps, user_id, tips: tips.value }, pr, repository)) changed.add(pr.id)
    }),
  )
  return changed
}

async function refreshOne(
  { db, git, user_id, tips }: Check,
  pr: WholePullRequestRow,
  repository: RepositoryRow,
): Promise<boolean> {
  const base_sha = tips.get(pr.base_branch)
  const head_sha = tips.get(pr.head_branch)
  const { organization_id, id } = pr
  // A concurrent reader may have recorded it first: the row is out of date in any case.
  const found = (
    state: PullRequestState,
    update: (tx: Db) => Promise<boolean>,
    detail: Record<string, unknown> | null = null,
  ) => recordPullRequestChange(db, pr, { state, user_id, detail }, update).then(() => true)
  if (base_sha === undefined) return false
  const merged =
    pr.remote_number === null
      ? await git.findMerge(repository, mergeOf(pr, base_sha, head_sha))
      : { ok: true, value: null }
  if (!merged.ok) return false
  if (merged.value !== null) {
    const merge = { merge_sha: merged.value, head_sha: head_sha ?? pr.head_sha }
    return found('merged', tx => markMerged(tx, organization_id, id, merge), { ...merge, how: 'found' })
  }
  if (head_sha !== undefined) {
    if (head_sha === pr.head_sha) return false
    const counts = await git.count(repository, base_sha, head_sha)
    if (!counts.ok) return false
    return found(pr.state, tx =>
      recordHead(tx, organization_id, id, { from_sha: pr.head_sha, head_sha, ...counts.value }),
    )
  }
  if (pr.remote_number !== null) return false
  // A check that began before the branch was pushed does not count.
  const recheck = await git.fetch(repository, { base: pr.base_branch, head: pr.head_branch })
  if (!recheck.ok || recheck.value.base_sha === null || recheck.value.head_sha !== null) return false
  return found('closed', tx => closeGone(tx, organization_id, id, pr.head_sha), {
    from: pr.state,
    to: 'closed',
    how: 'branch_deleted',
  })
}

/** A base that has not moved since the run began has merged nothing. */
function mergeOf(pr: WholePullRequestRow, base_sha: string, head_sha: string | undefined) {
  const head_shas = base_sha === pr.base_sha ? [] : headsOfMerge(pr, head_sha)
  return { base_sha, head_shas, attempts: pr.merge_attempts }
}

/**
 * Returns the commits that the base must contain for the pull request to be merged, including a newer head.
 * Nothing shows that a pull request without a change, for example one that was reset to its base, or a closed
 * one, is merged.
 */
export function headsOfMerge(
  { state, files_changed, head_sha }: WholePullRequestRow,
  now: string | null | undefined,
): string[] {
  return state === 'closed' || files_changed === 0 ? [] : [head_sha, now ?? head_sha]
}
