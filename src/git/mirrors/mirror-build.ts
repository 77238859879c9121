import { randomUUID } from 'node:crypto'
import { readdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { startQuietPolling } from '../../core/polling.ts'
import type { GitRepository } from '../git-repository.ts'
import { treeProblems } from '../objects/quarantine-bounds.ts'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import { type GitHost, mirrorPath, namesStarting } from '../process/git-host.ts'
import { removeTree, runAsOwner } from '../process/owner-files.ts'
import { git, runGit } from '../process/run-git.ts'
import { isSha } from '../refs/ref-name.ts'
import { runWithRemote } from '../refs/remote.ts'

const SIZE_INTERVAL_MS = 250

/**
 * Fetches all branches and tags into the bare repository at `git_dir`, removes those that the remote no
 * longer has, and sets HEAD.
 */
export async function fetchInto(
  host: GitHost,
  repo: GitRepository,
  git_dir: string,
  default_branch: string | null,
  timeout_ms: number,
): Promise<void> {
  await clearLeftovers(host, git_dir)
  const guard = watchSize(host, git_dir)
  try {
    const result = await runWithRemote(host, repo, 'upload-pack', {
      git_dir,
      timeout_ms,
      signal: guard.signal,
      args: address => [
        ...[
          'fetch',
          '--quiet',
          '--prune',
          '--no-tags',
          '--no-write-fetch-head',
          '--no-auto-maintenance',
          '--update-shallow',
          '--',
          address,
        ],
        ...['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'],
      ],
    })
    if (result.exit_code !== 0) throw gitErrorFrom(result.stderr, 'the repository cannot be fetched')
    await guard.check()
    await forgetBombs(host, git_dir)
  } catch (error) {
    await clearLeftovers(host, git_dir)
    throw error
  } finally {
    guard.stop()
  }
  if (default_branch)
    await git(host, 'HEAD of the mirror', {
      git_dir,
      args: ['symbolic-ref', 'HEAD', `refs/heads/${default_branch}`],
    })
}

/** The number of refs whose trees are read at a time. */
const REFS_AT_A_TIME = 20

/**
 * Removes branches and tags with more paths than can be checked out, before anything walks them. GitError
 * `too_large`.
 */
async function forgetBombs(host: GitHost, git_dir: string): Promise<void> {
  const what = 'the branches cannot be examined'
  const listed = await git(host, what, {
    git_dir,
    args: ['for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/tags'],
  })
  const names = listed.toString().split('\n').filter(Boolean)
  const stdin = names.map(name => `${name}^{tree}\n`).join('')
  const found = await git(host, what, { git_dir, args: ['cat-file', '--batch-check=%(objectname)'], stdin })
  const trees = found.toString('latin1').split('\n')
  const problems = new Map<string, string>()
  for (let at = 0; at < names.length; at += REFS_AT_A_TIME) {
    const some = trees.slice(at, at + REFS_AT_A_TIME).filter(isSha)
    for (const [tree, problem] of await treeProblems(host, { git_dir, timeout_ms: 300_000 }, some))
      problems.set(tree, problem)
  }
  const bad = names.flatMap((name, n) => {
    const problem = problems.get(trees[n] ?? '')
    return problem === undefined ? [] : [{ name, problem }]
  })
  if (bad[0] === undefined) return
  await git(host, what, {
    git_dir,
    args: ['update-ref', '--stdin'],
    stdin: bad.map(({ name }) => `delete ${name}\n`).join(''),
  })
  throw new GitError('too_large', `${bad[0].name} of the repository cannot be used: ${bad[0].problem}`)
}

/**
 * Builds a new mirror beside the old one and replaces it when complete; refs of runs in a broken old mirror
 * are saved if they can be read. A sandbox that has bound the old folder keeps seeing that one.
 */
export async function buildMirror(
  host: GitHost,
  repo: GitRepository,
  default_branch: string | null,
  timeout_ms: number,
  finish: (git_dir: string) => Promise<void>,
): Promise<void> {
  for (const name of await namesStarting(host, `${repo.id}.building-`))
    await removeTree(host, join(host.mirrors, name))
  const fresh = join(host.mirrors, `${repo.id}.building-${randomUUID()}`)
  const mirror_path = mirrorPath(host, repo.id)
  try {
    await git(host, 'a mirror cannot be created', {
      args: ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', fresh],
    })
    await fetchInto(host, repo, fresh, default_branch, timeout_ms)
    const old = await stat(mirror_path).catch(() => null)
    if (old) {
      await saveRunRefs(host, mirror_path, fresh)
      for (const name of await namesStarting(host, `${repo.id}.broken-`))
        await removeTree(host, join(host.mirrors, name))
      await rename(mirror_path, join(host.mirrors, `${repo.id}.broken-${Date.now()}`))
    }
    await finish(fresh)
    await rename(fresh, mirror_path)
  } catch (error) {
    await removeTree(host, fresh)
    throw error
  }
}

/**
 * All at once if the old mirror permits, otherwise one by one: unpushed work of runs is stored nowhere else.
 */
async function saveRunRefs(host: GitHost, from: string, to: string): Promise<void> {
  const fetch = (spec: string) =>
    runGit(host, {
      git_dir: to,
      protocols: 'file',
      args: [
        'fetch',
        '--quiet',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-auto-maintenance',
        '--',
        from,
        spec,
      ],
    })
  if ((await fetch('+refs/agentrun/*:refs/agentrun/*')).exit_code === 0) return
  const listed = await runGit(host, {
    git_dir: from,
    args: ['for-each-ref', '--format=%(refname)', '--sort=-creatordate', '--count=200', 'refs/agentrun'],
  })
  for (const name of listed.stdout.toString().split('\n').filter(Boolean)) await fetch(`+${name}:${name}`)
}

/**
 * Returns whether all objects that the refs need exist and can be read. Reads the whole graph: for when
 * something has already gone wrong.
 */
export async function isSound(host: GitHost, git_dir: string, timeout_ms: number): Promise<boolean> {
  const result = await runGit(host, {
    git_dir,
    args: ['fsck', '--connectivity-only', '--no-dangling', '--no-progress'],
    timeout_ms,
  })
  return result.exit_code === 0
}

/**
 * Repacks many small packs into few. Unreachable objects are kept: workspaces may borrow them. A failure only
 * costs speed.
 */
export async function fewerPacks(host: GitHost, git_dir: string): Promise<void> {
  const packs = (await readdir(join(git_dir, 'objects', 'pack'))).filter(name => name.endsWith('.pack'))
  if (packs.length < 40) return
  await runGit(host, { git_dir, args: ['repack', '-q', '-d', '--geometric=2'], timeout_ms: 600_000 })
}

/** Removes what a killed fetch left. Only under the mirror's lock: nothing else writes these files then. */
function clearLeftovers(host: GitHost, git_dir: string): Promise<void> {
  const script =
    'cd -- "$1"; rm -f objects/pack/tmp_* objects/pack/.tmp-* ./*.lock; find refs/heads refs/tags -name "*.lock" -delete'
  return runAsOwner(host, `${script} 2>/dev/null || true`, [git_dir])
}

/**
 * Stops a fetch whose packs grow past the limit: measured four times a second, and by `check`, which then
 * rejects.
 */
function watchSize(
  host: GitHost,
  git_dir: string,
): { signal: AbortSignal; check(): Promise<void>; stop(): void } {
  const over = new AbortController()
  const packs = join(git_dir, 'objects', 'pack')
  const limit = Math.ceil(host.max_mirror_bytes / 1024 ** 2)
  const check = async () => {
    const sizes = await Promise.all(
      (await readdir(packs)).map(name =>
        stat(join(packs, name)).then(
          found => found.size,
          () => 0,
        ),
      ),
    )
    if (sizes.reduce((sum, size) => sum + size, 0) <= host.max_mirror_bytes) return
    const error = new GitError(
      'too_large',
      `repository_too_large: the repository takes more than ${limit} MiB`,
    )
    over.abort(error)
    throw error
  }
  const polling = startQuietPolling(SIZE_INTERVAL_MS, check)
  return { signal: over.signal, check, stop: () => polling[Symbol.dispose]() }
}
