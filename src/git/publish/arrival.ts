import { isRefName } from '../../contract/organizations/ref-name.ts'
import type { GitRepository } from '../git-repository.ts'
import { mirrorState, readMirror } from '../mirrors/mirror-refs.ts'
import { refreshMirror, refreshMirrorNow } from '../mirrors/mirrors.ts'
import { withQuarantine } from '../objects/quarantine.ts'
import { GitError } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { asSha } from '../refs/ref-name.ts'
import { findMerge, mergeTree } from './merge.ts'

const READ_TIMEOUT_MS = 3_000
/** How long a mirror of a network remote is fresh enough for a read. */
const REMOTE_FRESH_MS = 10_000
const MERGE_TIMEOUT_MS = 10_000
/** Commits on the base branch that are compared with the whole change of a pull request. */
const MAX_CANDIDATES = 20
const MAX_PATHS = 100

/** Pairs of base and head whose change is known to be missing from the base: commits are immutable. */
const absent = new Set<string>()
const MAX_ABSENT = 2_000

/**
 * Returns where branches are now, by name; a branch that does not exist is missing. A local repository is
 * checked on each call, a network remote when its mirror is older than 10 s, and only by one caller at a
 * time: the others read the mirror as it is. GitError, `timeout` after 3 s.
 */
export async function branchTips(
  host: GitHost,
  repo: GitRepository,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (repo.kind === 'local') await refreshMirrorNow(host, repo, { wait_ms: READ_TIMEOUT_MS })
  else if (!host.flights.has(repo.id) && !(await isFresh(host, repo.id)))
    await refreshMirror(host, repo, { wait_ms: READ_TIMEOUT_MS })
  const valid = names.filter(isRefName)
  const found = await readMirror(host, repo.id, 'the branches cannot be read', {
    args: ['cat-file', '--batch-check=%(objectname)'],
    stdin: valid.map(name => `refs/heads/${name}^{commit}\n`).join(''),
  })
  const lines = found.toString().split('\n')
  return new Map(
    valid.flatMap((name, n) =>
      /^[0-9a-f]{40}$/.test(lines[n] ?? '') ? [[name, lines[n] ?? ''] as const] : [],
    ),
  )
}

async function isFresh(host: GitHost, repository_id: number): Promise<boolean> {
  const state = await mirrorState(host, repository_id)
  const age = state === null ? Number.POSITIVE_INFINITY : Date.now() - Date.parse(state.refreshed_at)
  return age >= 0 && age < REMOTE_FRESH_MS
}

/**
 * Returns the commit of the base branch by which a pull request is merged: that of `findMerge`, or the commit
 * with the whole change of the last head, as a squash or a rebase creates it. Null: the base does not have
 * it. GitError.
 */
export async function findArrival(
  host: GitHost,
  repository_id: number,
  input: { base_sha: string; head_shas: string[]; attempts: string[] },
): Promise<string | null> {
  const { base_sha, head_shas, attempts } = input
  const key = [repository_id, base_sha, ...head_shas].join(' ')
  if (attempts.length === 0 && absent.has(key)) return null
  const merged = await findMerge(host, repository_id, input)
  const head_sha = head_shas.at(-1)
  if (merged !== null || head_sha === undefined) return merged
  const squashed = await findSquash(host, repository_id, base_sha, head_sha)
  if (squashed === null) {
    if (absent.size >= MAX_ABSENT) absent.clear()
    absent.add(key)
  }
  return squashed
}

/**
 * Returns the oldest commit on the base, no older than the head, into which merging the head would change
 * nothing.
 */
async function findSquash(
  host: GitHost,
  repository_id: number,
  base_sha: string,
  head_sha: string,
): Promise<string | null> {
  const paths = await changedPaths(host, repository_id, base_sha, head_sha)
  if (paths.length === 0 || paths.length > MAX_PATHS) return null
  const listed = await readMirror(host, repository_id, 'the history cannot be read', {
    args: [
      ...['log', '--first-parent', '--format=%H %T %ct', `--max-count=${MAX_CANDIDATES}`],
      ...[asSha(base_sha), `^${asSha(head_sha)}`, '--', ...paths.map(path => `:(literal)${path}`)],
    ],
  })
  const committed_at = await readMirror(host, repository_id, 'the commit cannot be read', {
    args: ['log', '-1', '--format=%ct', asSha(head_sha), '--'],
  })
  // A head that became equal to its base later was not merged by earlier commits of the base.
  const candidates = listed
    .toString()
    .split('\n')
    .filter(line => line !== '' && Number(line.split(' ')[2]) >= Number(committed_at.toString()))
    .reverse()
  // The objects of the trial merge are dropped afterwards.
  return withQuarantine(host, { git_dir: mirrorPath(host, repository_id) }, async ({ call }) => {
    for (const candidate of candidates) {
      const [sha = '', tree] = candidate.split(' ')
      const merged = await mergeTree(host, { ...call, timeout_ms: MERGE_TIMEOUT_MS }, sha, head_sha)
      if (merged?.files === null && merged.tree === tree) return sha
    }
    return null
  })
}

/**
 * Returns the paths that the head changes since its merge base; none for unrelated histories, and for names
 * that are not UTF-8.
 */
async function changedPaths(
  host: GitHost,
  repository_id: number,
  base_sha: string,
  head_sha: string,
): Promise<string[]> {
  try {
    const listed = await readMirror(host, repository_id, 'the change cannot be read', {
      args: [
        'diff',
        '--name-only',
        '-z',
        '--no-renames',
        '--no-ext-diff',
        `${asSha(base_sha)}...${asSha(head_sha)}`,
        '--',
      ],
      max_output_bytes: 64 * 1024,
      on_overflow: 'cut',
    })
    const paths = listed.toString().split('\0').filter(Boolean)
    return paths.some(path => path.includes('\uFFFD')) ? [] : paths
  } catch (error) {
    if (error instanceof GitError && error.code === 'failed') return []
    throw error
  }
}
