import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readStart } from '../../system/read-exactly.ts'
import { mirrorLock } from '../mirrors/mirror-lock.ts'
import { objectCachePath, withObjectCache } from '../objects/object-cache.ts'
import { objectsOf, type RunObjects } from '../objects/objects.ts'
import {
  indexArguments,
  indexSeconds,
  readQuarantine,
  refusedObjects,
  withQuarantine,
} from '../objects/quarantine.ts'
import { checkBounds } from '../objects/quarantine-bounds.ts'
import { GitError } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { type GitCall, git, runGit } from '../process/run-git.ts'
import { type CommitRange, listNewObjects, type NewObjects } from '../read/new-objects.ts'
import { readBranch } from '../read/revisions.ts'
import { asSha } from '../refs/ref-name.ts'
import { NO_COMMIT } from './receive-commands.ts'

type BundleInput = {
  /** The HEAD that the workspace reported. */
  head_sha: string
  /** A commit of the mirror, which the new commits are compared with; null: there is none. */
  base_sha: string | null
  /** Maximum size of the bundle in bytes. Default 512 MiB. */
  max_bytes?: number
}

const KEEP_MS = 300_000
/** How long a push waits for a fetch of the same repository before it leaves the branch to the next one. */
const BRANCH_LOCK_MS = 1_000

/** Returns the mirror's ref for the commit that a run pushed in a turn. */
export function runRef(run_id: number, turn: number): string {
  return `refs/agentrun/${run_id}/${turn}`
}

/**
 * Imports a bundle from a sandbox into the objects of its run. They are checked one by one in quarantine and
 * imported only when all are valid and linked. None of them enters the mirror, which other runs read:
 * `keepPushed` does that after the push. Returns what the commits add, which the checks have read; null when
 * there is no object to import, because the commit exists already. GitError `too_large`, `corrupt` (the
 * content is corrupt, dangerous or not the expected commit), `timeout`, `failed`.
 */
export async function importBundle(
  host: GitHost,
  objects: RunObjects,
  bundle_file: string,
  input: BundleInput,
): Promise<NewObjects | null> {
  const range = { base_sha: input.base_sha, head_sha: asSha(input.head_sha) }
  const { size } = await stat(bundle_file)
  const max_bytes = input.max_bytes ?? 512 * 1024 ** 2
  if (size > max_bytes)
    throw new GitError('too_large', `the change takes ${size} bytes, more than the ${max_bytes} allowed`)
  return await withObjectCache(host, objects.run_id, async () => {
    const header = size > 0 ? await readHeader(bundle_file) : null
    if (header !== null && header.head !== range.head_sha)
      throw new GitError('corrupt', 'the bundle does not contain the HEAD commit of the workspace')
    if (header !== null && size - header.bytes !== EMPTY_PACK_BYTES)
      return await importObjects(
        host,
        objects,
        { path: bundle_file, behind: header.bytes, size },
        range,
        max_bytes,
      )
    const type = await runGit(host, { ...objectsOf(host, objects), args: ['cat-file', '-t', range.head_sha] })
    if (type.stdout.toString().trim() !== 'commit') throw new GitError('corrupt', NO_HEAD)
    return null
  })
}

/** A header and a digest. */
const EMPTY_PACK_BYTES = 12 + 20

const NO_HEAD = 'the workspace did not export its HEAD commit'

/**
 * `base_sha`: a commit of the mirror, which has all of it; null: there is none. `branch`: the branch of the
 * remote that the commit was pushed to just now, and the commit that it had before, if that is known.
 */
type PushedCommit = {
  turn: number
  head_sha: string
  base_sha: string | null
  branch: { name: string; before: string | null } | null
}

/**
 * Copies a commit of a run and its ancestors into the mirror, as `refs/agentrun/<run_id>/<turn>` and as the
 * tip of its branch: then the push is no reason to fetch. Only for a pushed commit: every run of the
 * repository can read it afterwards. GitError.
 */
export async function keepPushed(
  host: GitHost,
  objects: RunObjects,
  { turn, head_sha, base_sha, branch }: PushedCommit,
): Promise<void> {
  const sha = asSha(head_sha)
  const git_dir = mirrorPath(host, objects.repository_id)
  await copyObjects(host, objects, git_dir, { sha, base_sha })
  const kept = ['option no-deref', `update ${runRef(objects.run_id, turn)} ${sha}`]
  const update = (lines: readonly string[], lock?: GitCall['lock']) =>
    git(host, 'the change cannot be kept', {
      git_dir,
      args: ['update-ref', '--stdin'],
      stdin: lines.map(line => `${line}\n`).join(''),
      ...(lock && { lock }),
    })
  const found = branch && (await readBranch(git_dir, `refs/heads/${branch.name}`))?.sha
  // What somebody pushed later, and a fetch has found, stays.
  if (branch === null || (found !== undefined && found !== branch.before)) return void (await update(kept))
  const moved = `update refs/heads/${branch.name} ${sha} ${found ?? NO_COMMIT}`
  const lock = mirrorLock(host, objects.repository_id, BRANCH_LOCK_MS)
  await update([...kept, moved], lock).catch(error => {
    if (!(error instanceof GitError)) throw error
    // A fetch holds the lock, or has found a later push: then the branch is up to the next fetch.
    return update(kept)
  })
}

/**
 * Only commits that the base does not have are walked, and `--local` excludes what the run borrows from the
 * mirror.
 */
async function copyObjects(
  host: GitHost,
  objects: RunObjects,
  git_dir: string,
  { sha, base_sha }: { sha: string; base_sha: string | null },
): Promise<void> {
  await withQuarantine(host, { git_dir }, async quarantine => {
    const pack = join(quarantine.call.env.GIT_OBJECT_DIRECTORY, 'pack', 'pack')
    await git(host, 'the change cannot be kept', {
      ...objectsOf(host, objects),
      args: ['pack-objects', '--revs', '--local', '--non-empty', '--quiet', '--delta-base-offset', pack],
      stdin: base_sha === null ? `${sha}\n` : `${sha}\n^${asSha(base_sha)}\n`,
      timeout_ms: KEEP_MS,
    })
    await quarantine.keep()
  })
}

/** `file`: a bundle, whose pack begins behind its first bytes. */
async function importObjects(
  host: GitHost,
  objects: RunObjects,
  { size, ...stdin }: { path: string; behind: number; size: number },
  range: CommitRange,
  max_bytes: number,
): Promise<NewObjects> {
  const { head_sha } = range
  const into = objectCachePath(host, objects.run_id)
  return await withQuarantine(
    host,
    { git_dir: mirrorPath(host, objects.repository_id), into },
    async quarantine => {
      const indexed = await runGit(host, {
        ...quarantine.call,
        args: indexArguments(max_bytes),
        stdin,
        cpu_seconds: indexSeconds(size),
        timeout_ms: 300_000,
      })
      if (indexed.exit_code !== 0) throw refusedObjects(indexed.stderr)
      const found = await readQuarantine(host, quarantine, async reader => {
        const types = await checkBounds(host, quarantine, reader, [head_sha])
        if (types.get(head_sha) !== 'commit') throw new GitError('corrupt', NO_HEAD)
        return await listNewObjects(host, quarantine.call, reader, range)
      })
      await quarantine.keep()
      return found
    },
  )
}

const MAX_HEADER_BYTES = 1024 * 1024

/** Reads the lines before the pack: their bytes, and the one commit that the bundle offers. */
async function readHeader(bundle_file: string): Promise<{ head: string | null; bytes: number }> {
  const start = await readStart(bundle_file, MAX_HEADER_BYTES)
  const end = start.indexOf('\n\n')
  if (end < 0) throw new GitError('corrupt', 'this is not a bundle')
  const [signature, ...lines] = start.toString('latin1', 0, end).split('\n')
  if (signature !== '# v2 git bundle')
    throw new GitError('corrupt', 'this is not a bundle that the service reads')
  const heads = lines.filter(line => !line.startsWith('-'))
  return { head: heads.length === 1 ? (heads[0]?.split(' ')[0] ?? null) : null, bytes: end + 2 }
}
