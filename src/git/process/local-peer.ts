import { readdir, readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { GitError } from './git-error.ts'
import type { GitHost } from './git-host.ts'
import { type GitCall, type GitIdentity, type GitResult, ownIdentity, runGit } from './run-git.ts'

export type RemoteService = 'upload-pack' | 'receive-pack'

/** A call whose arguments contain the address of the remote at the position that git expects. */
export type RemoteCall = Omit<GitCall, 'args' | 'protocols'> & { args: (address: string) => string[] }

/**
 * Returns the users that the peer process of a local repository may run as, best first: the service user when
 * it can read (or write) the repository, then its owner, like an ssh login to the owner's account. Without
 * root it can only be the service's own user. GitError `not_found`, `not_a_repository`, or `auth` when no
 * user may.
 */
async function localPeers(
  host: GitHost,
  path: string,
  service: RemoteService,
): Promise<[GitIdentity, GitIdentity?]> {
  const repository = await findGitDir(path)
  const own: GitIdentity = { ...ownIdentity(host), config_file: join(host.home, 'peer-config') }
  if (!host.user || repository.uid === host.user.uid) return [own]
  const safe_as_owner = repository.uid !== 0 || !(await othersCanChange(repository.git_dir))
  const reachable = await canUse(host, repository.git_dir, service, safe_as_owner)
  const owner = {
    user: { name: `uid ${repository.uid}`, uid: repository.uid, gid: repository.gid },
    gid: repository.gid,
    config_file: '/dev/null',
    home: '/',
    cwd: '/',
  }
  if (safe_as_owner) return reachable ? [own, owner] : [owner]
  if (reachable) return [own]
  throw new GitError(
    'auth',
    `${path} belongs to root and others may write to it, so git is not run there as root; change its owner or its permissions`,
  )
}

/**
 * Runs an operation as each of `localPeers` in turn, until permissions do not stop it. Returns the last
 * result.
 */
export async function asPeer(
  host: GitHost,
  path: string,
  service: RemoteService,
  attempt: (peer: GitIdentity) => Promise<GitResult>,
): Promise<GitResult> {
  const [first, second] = await localPeers(host, path, service)
  const result = await attempt(first)
  if (!stoppedByPermissions(result)) return result
  usable.clear()
  return second ? await attempt(second) : result
}

/**
 * Git reports an unreadable object as corrupt. A rejection by a hook is a result, not a reason to retry as
 * another user.
 */
function stoppedByPermissions(result: GitResult): boolean {
  if (result.exit_code === 0 || /hook declined/.test(result.stdout.toString('latin1'))) return false
  return /^(remote: )?(error|fatal): .*(permission|denied|unable to|is corrupt|bad object)/im.test(
    result.stderr,
  )
}

type Repository = { git_dir: string; uid: number; gid: number }

/**
 * Returns the repository at a path: the folder itself when bare, its `.git`, or the target of its `.git`
 * file.
 */
async function findGitDir(path: string): Promise<Repository> {
  const top = await statOf(path)
  if (!top) throw new GitError('not_found', `${path} does not exist on the machine of the service`)
  if (!top.isDirectory()) throw new GitError('not_a_repository', `${path} is not a folder`)
  const dotGit = join(path, '.git')
  const inner = await statOf(dotGit)
  let git_dir = path
  if (inner?.isDirectory()) git_dir = dotGit
  else if (inner?.isFile()) git_dir = await follow(dotGit, path)
  const head = await statOf(join(git_dir, 'HEAD'))
  if (!head) throw new GitError('not_a_repository', `${path} is not a git repository`)
  const { uid, gid } = (await statOf(git_dir)) ?? top
  return { git_dir, uid, gid }
}

async function follow(file: string, folder: string): Promise<string> {
  const target = /^gitdir: (.+)$/.exec((await readFile(file, 'utf8')).trimEnd())?.[1]
  if (!target)
    throw new GitError('not_a_repository', `${folder} is not a git repository: its .git file cannot be read`)
  return resolve(folder, target)
}

async function statOf(path: string) {
  try {
    return await stat(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES')
      throw new GitError('auth', `${path} cannot be read by the service`, { cause: error })
    return null
  }
}

/** Whether the service user could use a repository, until permissions stop git: each check is a process. */
const usable = new Map<string, boolean>()
const MAX_USABLE = 1_000

/**
 * Asks the kernel, as the service user, because it evaluates parents, groups and access lists. `has_other`:
 * another user may be taken, so an earlier refusal is enough.
 */
async function canUse(
  host: GitHost,
  git_dir: string,
  service: RemoteService,
  has_other: boolean,
): Promise<boolean> {
  const key = [host.user?.uid, service, git_dir].join(' ')
  const known = usable.get(key)
  if (known === true || (known === false && has_other)) return known
  const test =
    service === 'upload-pack'
      ? 'test -r "$1/HEAD" && test -r "$1/objects" && test -x "$1/objects" && test -r "$1/config"'
      : 'test -w "$1" && test -w "$1/objects" && test -w "$1/refs" && test -r "$1/config"'
  const { exit_code } = await runGit(host, {
    program: 'sh',
    args: ['-c', test, 'sh', git_dir],
    timeout_ms: 10_000,
  })
  if (usable.size >= MAX_USABLE) usable.clear()
  usable.set(key, exit_code === 0)
  return exit_code === 0
}

/**
 * Returns whether a user other than root could make root run a hook or another program through this
 * repository.
 */
async function othersCanChange(git_dir: string): Promise<boolean> {
  const hooks = await readdir(join(git_dir, 'hooks')).catch(() => [])
  for (const name of ['', 'config', 'hooks', ...hooks.map(hook => join('hooks', hook))]) {
    const found = await statOf(join(git_dir, name))
    if (found && (found.uid !== 0 || (found.mode & 0o022) !== 0)) return true
  }
  return false
}
