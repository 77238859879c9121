import type { GitRepository } from '../git-repository.ts'
import { refreshMirrorNow } from '../mirrors/mirrors.ts'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { readChanges } from '../read/changes.ts'
import { branchTips, findArrival } from './arrival.ts'
import { type Branches, createMerge, fetchBranches, type MergeInput, type MergeResult } from './merge.ts'
import { tryMerge } from './mergeable.ts'
import { type ProposedCommits, proposedChanges, proposedCommits } from './proposed.ts'
import { type MergePushResult, pushMerge } from './push.ts'

/** A failure of git or of the remote, as text for a person. `retryable`: the same call may succeed later. */
export type GitResult<T> = { ok: true; value: T } | { ok: false; retryable: boolean; message: string }

type Counts = { files_changed: number; additions: number; deletions: number }

const FETCH_MS = 30_000
const PUSH_MS = 60_000

/**
 * Returns the git operations for merging pull requests, for any remote that can be pushed to: plain data in
 * and out, no GitError.
 */
export function pullRequestGit(host: GitHost, author: { name: string; email: string }) {
  return {
    fetch: (repo: GitRepository, branches: { base: string; head: string }): Promise<GitResult<Branches>> =>
      tried(() => fetchBranches(host, repo, branches, FETCH_MS)),
    tips: (repo: GitRepository, branches: readonly string[]): Promise<GitResult<Map<string, string>>> =>
      tried(() => branchTips(host, repo, branches)),
    findMerge: (
      repo: GitRepository,
      input: { base_sha: string; head_shas: string[]; attempts: string[] },
    ): Promise<GitResult<string | null>> => tried(() => findArrival(host, repo.id, input)),
    count: (repo: GitRepository, base_sha: string, head_sha: string): Promise<GitResult<Counts>> =>
      tried(async () => {
        const { files_changed, additions, deletions } = await readChanges(host, repo.id, base_sha, head_sha, {
          max_patch_bytes: 1,
        })
        return { files_changed, additions, deletions }
      }),
    commits: (repo: GitRepository, pr: ProposedCommits, window: { skip: number; limit: number }) =>
      tried(() => proposedCommits(host, repo, pr, window)),
    changes: (repo: GitRepository, pr: ProposedCommits) => tried(() => proposedChanges(host, repo, pr)),
    merge: (repo: GitRepository, input: Omit<MergeInput, 'author'>): Promise<GitResult<MergeResult>> =>
      tried(() => createMerge(host, repo.id, { ...input, author })),
    push: (
      repo: GitRepository,
      merge: { sha: string; branch: string; base_sha: string },
    ): Promise<GitResult<MergePushResult>> =>
      tried(async () => {
        const pushed = await pushMerge(host, repo, merge, { timeout_ms: PUSH_MS })
        // Prepares the mirror for the next reader; nothing waits for it.
        if (pushed.kind === 'pushed') refreshMirrorNow(host, repo).catch(() => {})
        return pushed
      }),
    mergeable: (repository_id: number, base: string, head_sha: string) =>
      tryMerge(host, repository_id, base, head_sha),
  }
}

/** Returns a failure as data. Throws on anything but a GitError. */
export async function tried<T>(work: () => Promise<T>): Promise<GitResult<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    // A corrupt mirror is repaired by the next fetch.
    return { ok: false, retryable: error.retryable || error.code === 'corrupt', message: error.message }
  }
}
