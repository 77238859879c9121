import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { removeTree, replaceFile, runAsOwner } from '../process/owner-files.ts'
import { type GitCall, git, runGit } from '../process/run-git.ts'
import { asSha, isSha } from '../refs/ref-name.ts'
import { relaxedChecks } from './object-checks.ts'
import { checkTrees } from './quarantine-bounds.ts'

/** Whose objects: of a run, on top of those of its repository's mirror (null: it has none). */
export type Kept = { run_id: number; repository_id: number | null }

/** What nobody has asked for during this time goes; it is made anew from the database. */
export const KEPT_IDLE_MS = 10 * 60_000
const PACKS = 'agentrun-packs'
const IMPORT_MS = 2 * 60_000

/** Path of the bare repository with what was kept of a run. It holds objects and no refs, and may be missing. */
export function keptPath(host: GitHost, run_id: number): string {
  return join(host.checkpoints, `${run_id}.git`)
}

/**
 * One piece of work at a time on what was kept of a run; it is there, if perhaps empty, and stays for as long as the work takes. `signal`: who
 * asks waits no longer, and rejects with its reason; work that has begun has to hear of it by itself.
 */
export async function withKept<T>(host: GitHost, run_id: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const use = host.kept.get(run_id) ?? { holders: 0, used_at: Date.now(), turn: Promise.resolve() }
  host.kept.set(run_id, use)
  use.holders++
  const done = use.turn
    .catch(() => {})
    .then(() => signal?.throwIfAborted())
    .then(() => makeKept(host, run_id))
    .then(work)
    .finally(() => {
      use.holders--
      use.used_at = Date.now()
    })
  use.turn = done.catch(() => {})
  return signal === undefined ? done : unlessAborted(done, signal)
}

function unlessAborted<T>(done: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const aborted = () => reject(signal.reason)
  signal.addEventListener('abort', aborted, { once: true })
  if (signal.aborted) aborted()
  done.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted))
  return promise
}

/** Keeps it from being swept away until the answer is called: a sandbox sees it. `signal` as for `withKept`. */
export async function holdKept(host: GitHost, run_id: number, signal?: AbortSignal): Promise<() => void> {
  const hold = async () => {
    signal?.throwIfAborted()
    const use = host.kept.get(run_id)
    if (use) use.holders++
  }
  await withKept(host, run_id, hold, signal)
  return () => {
    const use = host.kept.get(run_id)
    if (use) {
      use.holders--
      use.used_at = Date.now()
    }
  }
}

/** Removes what nobody has asked for since `idle_ms`, and what an earlier process left. It can be made anew at any time. */
export async function sweepKept(host: GitHost, idle_ms: number): Promise<void> {
  for (const name of await readdir(host.checkpoints)) {
    const run_id = Number(/^(\d+)\.git$/.exec(name)?.[1])
    if (Number.isNaN(run_id)) continue
    const use = host.kept.get(run_id)
    if (use && (use.holders > 0 || Date.now() - use.used_at < idle_ms)) continue
    await removeNow(host, run_id, join(host.checkpoints, name))
  }
}

const CONFIG = '[core]\n\trepositoryformatversion = 0\n\tbare = true\n'
const ATTRIBUTES = '* !text !eol !crlf !ident !filter !diff !working-tree-encoding\n'
/** HEAD is written last: with it the repository is complete. */
const MAKE = `mkdir -p -m 750 -- "$1"; cd -- "$1"; mkdir -p -m 750 info refs objects objects/info objects/pack
printf %s "$2" >config; printf %s "$3" >info/attributes; echo 'ref: refs/heads/none' >HEAD`

/** One shell rather than `git init`: it is on the way of every run. */
async function makeKept(host: GitHost, run_id: number): Promise<void> {
  const git_dir = keptPath(host, run_id)
  if ((await readFile(join(git_dir, 'HEAD')).catch(() => null)) !== null) return
  await runAsOwner(host, MAKE, [git_dir, CONFIG, ATTRIBUTES])
}

/** How many of the run's packs are in there, counted from the first. */
export async function keptPacks(host: GitHost, run_id: number): Promise<number> {
  return Number(await readFile(join(keptPath(host, run_id), PACKS), 'utf8').catch(() => '0'))
}

export async function markKept(host: GitHost, run_id: number, packs: number): Promise<void> {
  await replaceFile(host, join(keptPath(host, run_id), PACKS), String(packs))
}

/** Has what was kept of a run made anew from the database the next time. False: somebody is using it. */
export async function dropKept(host: GitHost, run_id: number): Promise<boolean> {
  if ((host.kept.get(run_id)?.holders ?? 0) > 0) return false
  await removeNow(host, run_id, keptPath(host, run_id))
  return true
}

/** Whoever asks for it meanwhile waits, and makes it anew. */
async function removeNow(host: GitHost, run_id: number, path: string): Promise<void> {
  const removed = removeTree(host, path)
  const use = { holders: 0, used_at: 0, turn: removed }
  host.kept.set(run_id, use)
  await removed
  if (use.holders === 0 && use.turn === removed) host.kept.delete(run_id)
}

/**
 * Takes a pack in: each object is named anew by its content and checked, what a delta needs is looked for here and in the mirror, and then
 * every one of `objects` must be there. GitError `corrupt`, `too_large`, `timeout`, `failed`, or the reason of `signal`; then nothing is relied
 * on that came with it.
 */
export async function importPack(
  host: GitHost,
  kept: Kept,
  pack: Uint8Array,
  objects: string[],
  max_bytes: number,
  signal?: AbortSignal,
): Promise<void> {
  const args = ['index-pack', '--stdin', '--fix-thin', `--strict=${relaxedChecks}`, `--max-input-size=${max_bytes}`]
  const { env, ...place } = inKept(host, kept)
  const limits = { timeout_ms: IMPORT_MS, ...(signal && { signal }) }
  const indexed = await runGit(host, { ...place, env: { ...env, GIT_ALLOC_LIMIT: '1g' }, args, stdin: pack, ...limits })
  if (/exceeds maximum allowed size/.test(indexed.stderr)) throw new GitError('too_large', `the pack is larger than ${max_bytes} bytes`)
  if (indexed.exit_code !== 0) throw gitErrorFrom(indexed.stderr, 'the pack cannot be used')
  await checkTrees(
    host,
    { ...inKept(host, kept), ...limits },
    objects.map(sha => `${asSha(sha)}^{tree}`),
  )
  const missing = await missingObjects(host, kept, objects)
  if (missing.length > 0) throw new GitError('corrupt', `the pack lacks ${missing.length} of the objects it is for`)
}

/** Those of `objects` that are neither kept nor in the mirror. */
export async function missingObjects(host: GitHost, kept: Kept, objects: string[]): Promise<string[]> {
  if (objects.length === 0) return []
  const answer = await git(host, 'objects cannot be looked for', {
    ...inKept(host, kept),
    args: ['cat-file', '--batch-check=%(objectname) %(objecttype)'],
    stdin: objects.map(sha => `${isSha(sha) ? sha : '0'.repeat(40)}\n`).join(''),
  })
  const lines = answer.toString('latin1').split('\n')
  return objects.filter((_, i) => !/ (tree|commit|blob)$/.test(lines[i] ?? ''))
}

/** The tree of a commit. GitError. */
export async function treeOf(host: GitHost, kept: Kept, commit: string): Promise<string> {
  const answer = await git(host, 'the commit cannot be read', {
    ...inKept(host, kept),
    args: ['rev-parse', '--verify', `${asSha(commit)}^{tree}`],
  })
  return answer.toString('latin1').trim()
}

/** Where a git process finds the objects: of the run and of the mirror. */
export function inKept(host: GitHost, { run_id, repository_id }: Kept): Omit<GitCall, 'args'> {
  const GIT_ALTERNATE_OBJECT_DIRECTORIES = repository_id === null ? '' : join(mirrorPath(host, repository_id), 'objects')
  // Made anew from the database if it breaks, so the disk need not be waited for.
  return { git_dir: keptPath(host, run_id), env: { GIT_ALTERNATE_OBJECT_DIRECTORIES }, config: { 'core.fsync': 'none' } }
}
