import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRefName } from '../../contract/organizations/ref-name.ts'
import { mirrorState, readMirror } from '../mirrors/mirror-refs.ts'
import { type Objects, objectsOf } from '../objects/objects.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { runGit } from '../process/run-git.ts'
import { foldersOf, isRunBranch } from '../refs/branch-name.ts'
import { asSha, isSha } from '../refs/ref-name.ts'

/**
 * A commit and the name that it was found by. `branch`: `ref` is the short name; `tag`: the requested name,
 * since a branch may have its short name; `commit`: the full SHA.
 */
type ResolvedRevision = { kind: 'branch' | 'tag' | 'commit'; ref: string; sha: string }

/**
 * Finds the commit that a branch, a tag or a SHA (whole, or 7 and more digits) names in the mirror; null as
 * `ref` means the default branch. `{ empty: true }`: the repository has no branch at all. null: no such
 * commit, an ambiguous SHA, an invalid name, or no mirror. One git process. GitError `corrupt`.
 */
export async function resolveRef(
  host: GitHost,
  repository_id: number,
  ref: string | null,
): Promise<ResolvedRevision | { empty: true } | null> {
  const state = await mirrorState(host, repository_id)
  if (!state) return null
  if (state.empty) return { empty: true }
  const wanted = ref ?? state.default_branch
  if (wanted === null) return null
  const branch = await readBranch(mirrorPath(host, repository_id), wanted)
  if (branch !== null) return branch
  const tries = candidates(wanted)
  if (tries.length === 0) return null
  const requested = await readMirror(host, repository_id, 'the revision cannot be read', {
    args: ['cat-file', '--batch-check=%(objectname)'],
    stdin: tries.map(([name]) => `${name}^{commit}\n`).join(''),
  })
  const lines = requested.toString().split('\n')
  for (const [i, [, kind, short]] of tries.entries()) {
    const sha = lines[i] ?? ''
    if (/^[0-9a-f]{40}$/.test(sha)) return { kind, ref: kind === 'commit' ? sha : short, sha }
  }
  return null
}

/**
 * Reads a branch from the mirror's own files, without a process: the common case, which delays the start of
 * every run. Null: run git.
 */
export async function readBranch(git_dir: string, wanted: string): Promise<ResolvedRevision | null> {
  if (!isRefName(wanted) || /^refs\/(?!heads\/)|^[0-9a-fA-F]{40}$/.test(wanted)) return null
  const ref = wanted.replace(/^refs\/heads\//, '')
  const loose = await readFile(join(git_dir, 'refs', 'heads', ref), 'latin1').catch(() => '')
  const packed = /^[0-9a-f]{40}\n$/.test(loose)
    ? ''
    : await readFile(join(git_dir, 'packed-refs'), 'latin1').catch(() => '')
  const name = Buffer.from(`refs/heads/${ref}`).toString('latin1')
  const line = packed.split('\n').find(text => text.slice(41) === name)
  const sha = packed === '' ? loose.trim() : (line?.slice(0, 40) ?? '')
  return /^[0-9a-f]{40}$/.test(sha) ? { kind: 'branch', ref, sha } : null
}

/**
 * Returns the branch of the mirror that has the name of a folder of this one, so that git cannot create it,
 * or null. Costs no process.
 */
export async function blockingBranch(
  host: GitHost,
  repository_id: number,
  name: string,
): Promise<string | null> {
  for (const folder of foldersOf(name))
    if (await readBranch(mirrorPath(host, repository_id), folder)) return folder
  return null
}

/**
 * In order of precedence: a whole SHA is a SHA, otherwise branches win over tags and tags over abbreviated
 * SHAs.
 */
function candidates(wanted: string): [name: string, kind: ResolvedRevision['kind'], short: string][] {
  if (/^[0-9a-fA-F]{40}$/.test(wanted)) return [[wanted.toLowerCase(), 'commit', wanted]]
  if (!isRefName(wanted)) return []
  const branch = wanted.replace(/^refs\/heads\//, '')
  const tag = wanted.replace(/^refs\/tags\//, '')
  const found: [string, ResolvedRevision['kind'], string][] = []
  if (!wanted.startsWith('refs/tags/')) found.push([`refs/heads/${branch}`, 'branch', branch])
  if (!wanted.startsWith('refs/heads/')) found.push([`refs/tags/${tag}`, 'tag', wanted])
  if (/^[0-9a-fA-F]{7,39}$/.test(wanted)) found.push([wanted.toLowerCase(), 'commit', wanted])
  return found
}

/**
 * Returns whether only runs have published this commit: it was found by a branch of a run or by a SHA, and no
 * other branch and no tag of the mirror contains it. GitError `corrupt`, `timeout`, `failed`.
 */
export async function isOfRunsAlone(
  host: GitHost,
  repository_id: number,
  { ref, sha }: { ref: string; sha: string },
): Promise<boolean> {
  if (!isRunBranch(ref) && !isSha(ref)) return false
  const holding = await readMirror(host, repository_id, 'the branches of a commit cannot be listed', {
    args: ['for-each-ref', `--contains=${asSha(sha)}`, '--format=%(refname)', 'refs/heads', 'refs/tags'],
  })
  const names = holding.toString('latin1').split('\n').filter(Boolean)
  return names.every(name => name.startsWith('refs/heads/') && isRunBranch(name))
}

/** Returns whether this commit exists. */
export async function hasCommit(host: GitHost, objects: Objects, sha: string): Promise<boolean> {
  const found = await runGit(host, {
    ...objectsOf(host, objects),
    args: ['cat-file', '-e', `${sha}^{commit}`],
  })
  return found.exit_code === 0
}

/** Returns the tree of a commit of the mirror. GitError `corrupt`, `timeout`, `failed`. */
export async function treeOf(host: GitHost, repository_id: number, sha: string): Promise<string> {
  const output = await readMirror(host, repository_id, 'the commit cannot be read', {
    args: ['rev-parse', '--verify', `${asSha(sha)}^{tree}`],
  })
  return output.toString('latin1').trim()
}
