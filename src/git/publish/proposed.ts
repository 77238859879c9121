import type { GitRepository } from '../git-repository.ts'
import { readMirror } from '../mirrors/mirror-refs.ts'
import { GitError } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { runGit } from '../process/run-git.ts'
import { shownText } from '../process/shown-text.ts'
import { type Changes, fields, readChanges } from '../read/changes.ts'
import { asSha } from '../refs/ref-name.ts'
import { fetchBranches, readBranches } from './merge.ts'

/** The commits of a pull request. `base_sha`: where it began; `merge_sha`: of a merged one. */
export type ProposedCommits = {
  base_branch: string
  base_sha: string
  head_sha: string
  merge_sha: string | null
}

/** `authored_at` and `committed_at` in seconds since 1970, as recorded in the commit. */
type ProposedCommit = {
  sha: string
  parents: string[]
  message: string
  author_name: string
  author_email: string
  authored_at: number
  committed_at: number
}

const FETCH_MS = 30_000
const PATCH_BYTES = 1024 * 1024
/** As git writes them with `-z`: no field can hold a NUL. */
const FIELDS = ['%H', '%P', '%an', '%ae', '%at', '%ct', '%B']

/** Returns one page of the commits of a pull request, oldest first. GitError. */
export async function proposedCommits(
  host: GitHost,
  repo: GitRepository,
  pr: ProposedCommits,
  window: { skip: number; limit: number },
): Promise<{ commits: ProposedCommit[]; total: number }> {
  const { base_sha, head_sha } = await compared(host, repo, pr)
  const range = [asSha(head_sha), `^${asSha(base_sha)}`, '--']
  const read = (...args: string[]) =>
    readMirror(host, repo.id, 'the commits cannot be listed', { args: [...args, ...range] })
  const total = Number((await read('rev-list', '--count')).toString())
  // Git counts from the newest.
  const count = Math.min(window.limit, total - window.skip)
  if (count <= 0) return { commits: [], total }
  const newer = total - window.skip - count
  const options = [
    '--topo-order',
    `--skip=${newer}`,
    `--max-count=${count}`,
    '--encoding=UTF-8',
    '--no-show-signature',
  ]
  const parts = fields(await read('log', '-z', `--format=${FIELDS.join('%x00')}`, ...options))
  const commits: ProposedCommit[] = []
  for (let at = 0; at + FIELDS.length <= parts.length; at += FIELDS.length) {
    const [
      sha = '',
      parents = '',
      author_name = '',
      author_email = '',
      authored = '',
      committed = '',
      message = '',
    ] = parts.slice(at, at + FIELDS.length).map(part => shownText(part).trimEnd())
    const times = { authored_at: Number(authored), committed_at: Number(committed) }
    commits.push({
      sha,
      parents: parents.split(' ').filter(Boolean),
      message,
      author_name,
      author_email,
      ...times,
    })
  }
  return { commits: commits.reverse(), total }
}

/** Returns its diff, and the two commits. GitError. */
export async function proposedChanges(
  host: GitHost,
  repo: GitRepository,
  pr: ProposedCommits,
): Promise<Changes & { base_sha: string; head_sha: string }> {
  const between = await compared(host, repo, pr)
  return {
    ...between,
    ...(await readChanges(host, repo.id, between.base_sha, between.head_sha, {
      max_patch_bytes: PATCH_BYTES,
    })),
  }
}

/**
 * Returns what the head of a pull request is compared with: its base branch as last fetched; once merged, the
 * base before the merge, because the base now contains all of it.
 */
async function compared(
  host: GitHost,
  repo: GitRepository,
  pr: ProposedCommits,
): Promise<{ base_sha: string; head_sha: string }> {
  const head_sha = asSha(pr.head_sha)
  const base = { base: pr.base_branch, head: pr.base_branch }
  if ((await commitAt(host, repo.id, head_sha)) === null) await fetchBranches(host, repo, base, FETCH_MS)
  if ((await commitAt(host, repo.id, head_sha)) === null)
    throw new GitError('failed', `the repository has the commit ${head_sha} no more`)
  if (pr.merge_sha !== null) {
    const before =
      pr.merge_sha === head_sha ? null : await commitAt(host, repo.id, `${asSha(pr.merge_sha)}^1`)
    return { base_sha: before ?? pr.base_sha, head_sha }
  }
  const { base_sha } = await readBranches(host, repo.id, base)
  return { base_sha: base_sha ?? pr.base_sha, head_sha }
}

async function commitAt(host: GitHost, repository_id: number, revision: string): Promise<string | null> {
  const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${revision}^{commit}`]
  const { exit_code, stdout } = await runGit(host, { git_dir: mirrorPath(host, repository_id), args })
  return exit_code === 0 ? stdout.toString().trim() : null
}
