import type {
  PullRequestCommit,
  PullRequestDiff,
} from '../../contract/pull-requests/pull-request-contents.ts'
import { ServiceError } from '../../core/service-error.ts'
import { shortError } from '../../core/text/truncate.ts'

type Repository = { id: number; url: string; kind: 'https' | 'http' | 'ssh' | 'local' }
export type GitResult<T> = { ok: true; value: T } | { ok: false; retryable: boolean; message: string }
type ProposedCommits = { base_branch: string; base_sha: string; head_sha: string; merge_sha: string | null }

/**
 * The git operations for pull requests. Every commit is named by its whole SHA; no operation uses a work
 * tree.
 */
export type PullRequestGit = {
  /** Returns the commits of two branches on the remote now; null: no branch of that name. */
  fetch(
    repo: Repository,
    branches: { base: string; head: string },
  ): Promise<GitResult<{ base_sha: string | null; head_sha: string | null }>>
  /**
   * Returns the commits of the branches that exist; of a network remote at most 10 s old. Waits 3 s at most.
   */
  tips(repo: Repository, branches: readonly string[]): Promise<GitResult<Map<string, string>>>
  /**
   * Returns the commit by which one of `attempts`, all of `head_shas`, or the whole change of the last of
   * them came into the base, or null.
   */
  findMerge(
    repo: Repository,
    input: { base_sha: string; head_shas: string[]; attempts: string[] },
  ): Promise<GitResult<string | null>>
  /** Returns the size of the change, as a pull request shows it. */
  count(
    repo: Repository,
    base_sha: string,
    head_sha: string,
  ): Promise<GitResult<{ files_changed: number; additions: number; deletions: number }>>
  /**
   * Returns one page of a pull request's commits, oldest first; times in seconds as the commits record them.
   */
  commits(
    repo: Repository,
    pr: ProposedCommits,
    window: { skip: number; limit: number },
  ): Promise<
    GitResult<{
      commits: (Omit<PullRequestCommit, 'authored_at' | 'committed_at'> & {
        authored_at: number
        committed_at: number
      })[]
      total: number
    }>
  >
  /** Returns the diff of a pull request. */
  changes(repo: Repository, pr: ProposedCommits): Promise<GitResult<Omit<PullRequestDiff, 'pr_id'>>>
  /** Creates the merge commit locally, without pushing it. */
  merge(
    repo: Repository,
    input: { base_sha: string; head_sha: string; method: 'merge' | 'squash'; message: string },
  ): Promise<
    GitResult<
      | { kind: 'made'; sha: string }
      | { kind: 'conflict'; files: string[] }
      | { kind: 'refused'; message: string }
      | { kind: 'nothing' }
    >
  >
  /** Pushes the merge if the branch is still at `base_sha`. Not ok: the outcome is unknown. */
  push(
    repo: Repository,
    merge: { sha: string; branch: string; base_sha: string },
  ): Promise<GitResult<{ kind: 'pushed' } | { kind: 'moved' } | { kind: 'rejected'; message: string }>>
  /** Computes mergeability from what was last fetched; never rejects, never fetches. */
  mergeable(repository_id: number, base: string, head_sha: string): Promise<'clean' | 'conflict' | 'unknown'>
}

/**
 * Returns the value, or throws 503 when a retry may succeed and 409 when a person must act, with git's
 * message.
 */
export function requireValue<T>(tried: GitResult<T>): T {
  if (tried.ok) return tried.value
  const message = shortError(`${tried.message.slice(0, 1).toUpperCase()}${tried.message.slice(1)}`)
  throw tried.retryable
    ? new ServiceError('unavailable', message, { headers: { 'retry-after': '5' } })
    : new ServiceError('conflict', message)
}
