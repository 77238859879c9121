import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { storedJson } from '../../core/json/stored-json.ts'
import { type Objects, objectsOf } from '../objects/objects.ts'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import { type GitHost, type MirrorState, mirrorPath } from '../process/git-host.ts'
import { removeTree, replaceFile } from '../process/owner-files.ts'
import { type GitCall, runGit } from '../process/run-git.ts'

const STATE = 'agentrun.json'
const SUSPECT = 'agentrun-suspect'

/** Returns the state of a mirror without running git; null when it has never been fetched. */
export async function mirrorState(host: GitHost, repository_id: number): Promise<MirrorState | null> {
  try {
    return storedJson<MirrorState>(await readFile(join(mirrorPath(host, repository_id), STATE), 'utf8'))
  } catch {
    return null
  }
}

/** Writes the state into a mirror, or into one that is being built at `git_dir`. */
export async function writeMirrorState(host: GitHost, git_dir: string, state: MirrorState): Promise<void> {
  await replaceFile(host, join(git_dir, STATE), JSON.stringify(state))
}

/**
 * Returns branches and tags by full name, each with its object; null when the mirror is missing or git cannot
 * read it.
 */
export async function mirrorRefs(host: GitHost, repository_id: number): Promise<Map<string, string> | null> {
  const git_dir = mirrorPath(host, repository_id)
  if ((await mirrorState(host, repository_id)) === null) return null
  // The type makes git open each object: a lost pack is detected here.
  const listed = await runGit(host, {
    git_dir,
    args: [
      'for-each-ref',
      '--format=%(objectname) %(objecttype) %(refname)',
      'refs/heads',
      'refs/tags',
      'refs/agentrun',
    ],
  })
  if (listed.exit_code !== 0) return null
  const refs = new Map<string, string>()
  for (const line of listed.stdout.toString().split('\n')) {
    const [sha, , name] = line.split(' ')
    if (sha && name && !name.startsWith('refs/agentrun/')) refs.set(name, sha)
  }
  return refs
}

/**
 * Reads from a mirror, with or without the objects of a run. When objects are corrupt, the mirror is marked:
 * the next refresh examines it and rebuilds it if needed. Git's batch commands report a corrupt object as
 * missing and exit with 0, so their stderr counts too.
 */
export async function readMirror(
  host: GitHost,
  objects: Objects,
  what: string,
  call: GitCall,
): Promise<Buffer> {
  const result = await runGit(host, { ...call, ...objectsOf(host, objects) })
  const broken = /^error: .*(pack|corrupt|inflate|garbage|mismatch)/m.test(result.stderr)
  if (!broken && (result.exit_code === 0 || result.truncated)) return result.stdout
  const error = gitErrorFrom(result.stderr, what)
  if (error.code !== 'corrupt' && !broken) throw error
  await markSuspect(host, typeof objects === 'number' ? objects : objects.repository_id)
  throw new GitError('corrupt', error.message)
}

export async function markSuspect(host: GitHost, repository_id: number): Promise<void> {
  await replaceFile(host, join(mirrorPath(host, repository_id), SUSPECT), '')
}

export async function isSuspect(host: GitHost, repository_id: number): Promise<boolean> {
  return (await stat(join(mirrorPath(host, repository_id), SUSPECT)).catch(() => null)) !== null
}

export async function clearSuspect(host: GitHost, repository_id: number): Promise<void> {
  if (await isSuspect(host, repository_id))
    await removeTree(host, join(mirrorPath(host, repository_id), SUSPECT))
}
