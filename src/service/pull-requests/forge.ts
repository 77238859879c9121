import type { PullRequestCommit, PullRequestDiff } from '../../contract/pull-requests/pull-request-contents.ts'
import { ServiceError } from '../../core/service-error.ts'

type Repository = { id: number; url: string; kind: 'https' | 'http' | 'ssh' | 'local' }
export type Tried<T> = { ok: true; value: T } | { ok: false; retryable: boolean; message: string }
type Proposed = { base_branch: string; base_sha: string; head_sha: string; merge_sha: string | null }

/** What the verbs of pull requests ask of git. Every commit is named by its whole SHA; nothing here touches a work tree. */
export type Forge = {
  /** Where two branches stand on the remote now; null: there is none of that name. */
  fetch(repo: Repository, branches: { base: string; head: string }): Promise<Tried<{ base_sha: string | null; head_sha: string | null }>>
  /** Where branches are now, without those that do not exist; of a network remote as of the last 10 s. Waits 3 s at most. */
  tips(repo: Repository, branches: readonly string[]): Promise<Tried<Map<string, string>>>
  /** The commit by which one of `attempts`, all of `head_shas`, or the whole change of the last of them came into the base; null: it has not. */
  findMerge(repo: Repository, input: { base_sha: string; head_shas: string[]; attempts: string[] }): Promise<Tried<string | null>>
  /** How large the change is, as a pull request shows it. */
  count(
    repo: Repository,
    base_sha: string,
    head_sha: string,
  ): Promise<Tried<{ files_changed: number; additions: number; deletions: number }>>
  /** What a pull request brings, oldest first, a part of it; times in seconds as the commits say them. */
  commits(
    repo: Repository,
    pr: Proposed,
    window: { skip: number; limit: number },
  ): Promise<
    Tried<{
      commits: (Omit<PullRequestCommit, 'authored_at' | 'committed_at'> & { authored_at: number; committed_at: number })[]
      total: number
    }>
  >
  /** Its change. */
  changes(repo: Repository, pr: Proposed): Promise<Tried<Omit<PullRequestDiff, 'pr_id'>>>
  /** Makes the commit, here only. */
  merge(
    repo: Repository,
    input: { base_sha: string; head_sha: string; method: 'merge' | 'squash'; message: string },
  ): Promise<
    Tried<
      { kind: 'made'; sha: string } | { kind: 'conflict'; files: string[] } | { kind: 'refused'; message: string } | { kind: 'nothing' }
    >
  >
  /** Pushes it while the branch stands at `base_sha`. Not ok: nobody knows whether it arrived. */
  push(
    repo: Repository,
    merge: { sha: string; branch: string; base_sha: string },
  ): Promise<Tried<{ kind: 'pushed' } | { kind: 'moved' } | { kind: 'rejected'; message: string }>>
  /** By what was last fetched; never rejects, never fetches. */
  mergeable(repository_id: number, base: string, head_sha: string): Promise<'clean' | 'conflict' | 'unknown'>
}

/** The value, or 503 when it may work later by itself and 409 when somebody must do something, in git's words. */
export function given<T>(tried: Tried<T>): T {
  if (tried.ok) return tried.value
  const message = `${tried.message.slice(0, 1).toUpperCase()}${tried.message.slice(1)}`
  throw tried.retryable
    ? new ServiceError('unavailable', message, { headers: { 'retry-after': '5' } })
    : new ServiceError('conflict', message)
}
