import { type FileHandle, open, stat } from 'node:fs/promises'
import { GitError } from './git-error.ts'
import { type GitHost, mirrorPath } from './git-host.ts'
import { checkLinked, indexArguments, refusedObjects, withQuarantine } from './quarantine.ts'
import { asSha } from './ref-name.ts'
import { git, runGit } from './run-git.ts'

export type BundleInput = {
  run_id: number
  turn: number
  /** The commit that the workspace said it stands at. */
  head_sha: string
  /** Bytes the bundle may have. Default 512 MiB. */
  max_bytes?: number
}

export type Imported = { ref: string; sha: string }

/** The mirror's own name for what a run has made in a turn. */
export function runRef(run_id: number, turn: number): string {
  return `refs/agentrun/${run_id}/${turn}`
}

/**
 * Takes a bundle that was made inside a sandbox into the mirror, as `refs/agentrun/<run_id>/<turn>`. Its objects are checked one by one in a place of their own
 * and enter the mirror only when all are sound and linked. An empty file stands for a commit that the mirror has already.
 * GitError `too_large`, `corrupt` (what the bundle holds is broken, dangerous or not the commit it should be), `timeout`, `failed`.
 */
export async function importBundle(host: GitHost, repository_id: number, bundle_file: string, input: BundleInput): Promise<Imported> {
  const head_sha = asSha(input.head_sha)
  const git_dir = mirrorPath(host, repository_id)
  const { size } = await stat(bundle_file)
  const max_bytes = input.max_bytes ?? 512 * 1024 ** 2
  if (size > max_bytes) throw new GitError('too_large', `the change takes ${size} bytes, more than the ${max_bytes} allowed`)
  if (size > 0) await importObjects(host, git_dir, bundle_file, head_sha, max_bytes)
  const type = await runGit(host, { git_dir, args: ['cat-file', '-t', head_sha] })
  if (type.stdout.toString().trim() !== 'commit')
    throw new GitError('corrupt', 'the workspace did not hand out the commit that it stands at')
  const ref = runRef(input.run_id, input.turn)
  await git(host, 'the change cannot be kept', { git_dir, args: ['update-ref', '--no-deref', ref, head_sha] })
  return { ref, sha: head_sha }
}

async function importObjects(host: GitHost, git_dir: string, bundle_file: string, head_sha: string, max_bytes: number): Promise<void> {
  await using file = await open(bundle_file)
  if ((await readHeader(file)) !== head_sha) throw new GitError('corrupt', 'the bundle is not of the commit that the workspace stands at')
  await withQuarantine(host, git_dir, async quarantine => {
    const indexed = await runGit(host, { ...quarantine.call, args: indexArguments(max_bytes), stdin: file.fd, timeout_ms: 300_000 })
    if (indexed.exit_code !== 0) throw refusedObjects(indexed.stderr)
    await checkLinked(host, quarantine, [head_sha])
    await quarantine.keep()
  })
}

/** Reads the lines before the pack, leaves the file's position at the pack, and gives the one commit that the bundle offers. */
async function readHeader(file: FileHandle): Promise<string | null> {
  const start = Buffer.alloc(1024 * 1024)
  const { bytesRead } = await file.read(start, 0, start.length, 0)
  const end = start.subarray(0, bytesRead).indexOf('\n\n')
  if (end < 0) throw new GitError('corrupt', 'this is not a bundle')
  const [signature, ...lines] = start.toString('latin1', 0, end).split('\n')
  if (signature !== '# v2 git bundle') throw new GitError('corrupt', 'this is not a bundle that the service reads')
  const heads = lines.filter(line => !line.startsWith('-'))
  // A read without a position is what moves it.
  await file.read(start, 0, end + 2, null)
  return heads.length === 1 ? (heads[0]?.split(' ')[0] ?? null) : null
}
