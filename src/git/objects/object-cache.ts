import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { orAborted } from '../../core/abort.ts'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { createFolders, removeTree, replaceFile } from '../process/owner-files.ts'
import { type GitCall, git, runGit } from '../process/run-git.ts'
import { asSha, isSha } from '../refs/ref-name.ts'
import { relaxedChecks } from './object-checks.ts'
import { indexSeconds } from './quarantine.ts'
import { checkTrees } from './quarantine-bounds.ts'

/** The owner of cached objects: a run, on top of its repository's mirror (null: it has none). */
export type CacheOwner = { run_id: number; repository_id: number | null }

/** A cache that was unused for this long is removed; it is recreated from the database. */
export const CACHE_IDLE_MS = 10 * 60_000
const PACKS = 'agentrun-packs'
const IMPORT_MS = 2 * 60_000

/**
 * Returns the path of a run's object cache, a bare repository. It holds objects and no refs, and may be
 * missing.
 */
export function objectCachePath(host: GitHost, run_id: number): string {
  return join(host.checkpoints, `${run_id}.git`)
}

/**
 * Runs one operation at a time on the object cache of a run; the cache exists, possibly empty, and stays
 * while the operation runs. `signal`: the caller stops waiting and rejects with its reason; an operation that
 * has started must observe the signal itself.
 */
export async function withObjectCache<T>(
  host: GitHost,
  run_id: number,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const use = host.kept.get(run_id) ?? { holders: 0, used_at: Date.now(), turn: Promise.resolve() }
  host.kept.set(run_id, use)
  use.holders++
  const done = use.turn
    .catch(() => {})
    .then(() => signal?.throwIfAborted())
    .then(() => createObjectCache(host, run_id))
    .then(work)
    .finally(() => {
      use.holders--
      use.used_at = Date.now()
    })
  use.turn = done.catch(() => {})
  return signal === undefined ? done : orAborted(done, signal)
}

/**
 * Keeps the cache from being removed until the returned function is called: a sandbox has it bound. `signal`
 * as for `withCache`.
 */
export async function retainObjectCache(
  host: GitHost,
  run_id: number,
  signal?: AbortSignal,
): Promise<() => void> {
  const retain = async () => {
    signal?.throwIfAborted()
    const use = host.kept.get(run_id)
    if (use) use.holders++
  }
  await withObjectCache(host, run_id, retain, signal)
  return () => {
    const use = host.kept.get(run_id)
    if (use) {
      use.holders--
      use.used_at = Date.now()
    }
  }
}

/**
 * Removes caches unused for `idle_ms`, and those of an earlier process. They can be recreated at any time.
 */
export async function sweepObjectCaches(host: GitHost, idle_ms: number): Promise<void> {
  const unused = (await readdir(host.checkpoints))
    .map(name => Number(/^(\d+)\.git$/.exec(name)?.[1]))
    .filter(run_id => {
      const use = host.kept.get(run_id)
      return !Number.isNaN(run_id) && !(use && (use.holders > 0 || Date.now() - use.used_at < idle_ms))
    })
  if (unused.length > 0) await removeNow(host, unused)
}

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'
const ATTRIBUTES = '* !text !eol !crlf !ident !filter !diff !working-tree-encoding\n'
const FOLDERS = ['info', 'refs', 'objects', 'objects/info', 'objects/pack']

/**
 * Files rather than `git init`: it delays the start of every run. HEAD is written last: with it the
 * repository is complete.
 */
async function createObjectCache(host: GitHost, run_id: number): Promise<void> {
  const git_dir = objectCachePath(host, run_id)
  const at = (name: string) => join(git_dir, name)
  if ((await readFile(at('HEAD')).catch(() => null)) !== null) return
  await createFolders(host, git_dir, ...FOLDERS.map(at))
  await replaceFile(host, at('config'), CONFIG)
  await replaceFile(host, at('info/attributes'), ATTRIBUTES)
  await replaceFile(host, at('HEAD'), 'ref: refs/heads/none\n')
}

/** Returns how many of the run's packs are in the cache, counted from the first. */
export async function countCachedPacks(host: GitHost, run_id: number): Promise<number> {
  return Number(await readFile(join(objectCachePath(host, run_id), PACKS), 'utf8').catch(() => '0'))
}

export async function markKept(host: GitHost, run_id: number, packs: number): Promise<void> {
  await replaceFile(host, join(objectCachePath(host, run_id), PACKS), String(packs))
}

/** Removes the object cache of a run, so that it is recreated from the database. False: it is in use. */
export async function dropObjectCache(host: GitHost, run_id: number): Promise<boolean> {
  if ((host.kept.get(run_id)?.holders ?? 0) > 0) return false
  await removeNow(host, [run_id])
  return true
}

/** Callers that need one meanwhile wait, and recreate it. */
async function removeNow(host: GitHost, run_ids: number[]): Promise<void> {
  const removed = removeTree(host, ...run_ids.map(run_id => objectCachePath(host, run_id)))
  const uses = run_ids.map(run_id => ({ run_id, use: { holders: 0, used_at: 0, turn: removed } }))
  for (const { run_id, use } of uses) host.kept.set(run_id, use)
  await removed
  for (const { run_id, use } of uses) if (use.holders === 0 && use.turn === removed) host.kept.delete(run_id)
}

/** `objects`: what the pack is for. */
type PackImport = { pack: Uint8Array; objects: string[]; max_bytes: number; signal?: AbortSignal | undefined }

/**
 * Imports a pack: each object is hashed and checked, delta bases are found in the cache and in the mirror,
 * and every one of `objects` must exist afterwards. GitError `corrupt`, `too_large`, `timeout`, `failed`, or
 * the reason of `signal`; then nothing that came with it is used.
 */
export async function importPack(
  host: GitHost,
  kept: CacheOwner,
  { pack, objects, max_bytes, signal }: PackImport,
): Promise<void> {
  const args = [
    'index-pack',
    '--stdin',
    '--fix-thin',
    `--strict=${relaxedChecks}`,
    `--max-input-size=${max_bytes}`,
  ]
  const { env, ...location } = inObjectCache(host, kept)
  const limits = { timeout_ms: IMPORT_MS, ...(signal && { signal }) }
  const indexed = await runGit(host, {
    ...location,
    env: { ...env, GIT_ALLOC_LIMIT: '1g' },
    args,
    stdin: pack,
    cpu_seconds: indexSeconds(pack.length),
    ...limits,
  })
  if (/exceeds maximum allowed size/.test(indexed.stderr))
    throw new GitError('too_large', `the pack is larger than ${max_bytes} bytes`)
  if (indexed.exit_code !== 0) throw gitErrorFrom(indexed.stderr, 'the pack cannot be used')
  await checkTrees(
    host,
    { ...inObjectCache(host, kept), ...limits },
    objects.map(sha => `${asSha(sha)}^{tree}`),
  )
}

/**
 * Adds a complete pack that the service itself has written. What its objects name may follow later. GitError.
 */
export async function addPack(host: GitHost, kept: CacheOwner, pack: Uint8Array): Promise<void> {
  await git(host, 'the objects cannot be added', {
    ...inObjectCache(host, kept),
    args: ['index-pack', '--stdin'],
    stdin: pack,
    timeout_ms: IMPORT_MS,
  })
}

/** Returns those of `objects` that are neither in the cache nor in the mirror. */
export async function missingObjects(host: GitHost, kept: CacheOwner, objects: string[]): Promise<string[]> {
  if (objects.length === 0) return []
  const output = await git(host, 'the objects cannot be listed', {
    ...inObjectCache(host, kept),
    args: ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    stdin: objects.map(sha => `${isSha(sha) ? sha : '0'.repeat(40)}\n`).join(''),
  })
  const lines = output.toString('latin1').split('\n')
  return objects.filter((_, i) => !/ (tree|commit|blob)$/.test(lines[i] ?? ''))
}

/** The trees of the commits that runs started from: a commit never changes. */
const trees = new Map<string, string>()
const MAX_TREES = 1_000

/** Returns the tree of a commit. GitError. */
export async function treeOf(host: GitHost, kept: CacheOwner, commit: string): Promise<string> {
  const known = trees.get(commit)
  if (known !== undefined) return known
  const output = await git(host, 'the commit cannot be read', {
    ...inObjectCache(host, kept),
    args: ['rev-parse', '--verify', `${asSha(commit)}^{tree}`],
  })
  const tree = output.toString('latin1').trim()
  if (trees.size >= MAX_TREES) trees.clear()
  trees.set(commit, tree)
  return tree
}

/** Returns the settings with which a git process finds the objects of the run and of the mirror. */
export function inObjectCache(host: GitHost, { run_id, repository_id }: CacheOwner): Omit<GitCall, 'args'> {
  const GIT_ALTERNATE_OBJECT_DIRECTORIES =
    repository_id === null ? '' : join(mirrorPath(host, repository_id), 'objects')
  // The cache is recreated from the database if it breaks, so writes need not wait for the disk.
  return {
    git_dir: objectCachePath(host, run_id),
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES },
    config: { 'core.fsync': 'none' },
  }
}
