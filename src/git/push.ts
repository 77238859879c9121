import { RUN_BRANCH_PREFIX } from './branch-name.ts'
import { GitError, gitErrorFrom } from './git-error.ts'
import { type GitHost, mirrorPath } from './git-host.ts'
import { asSha, isRefName } from './ref-name.ts'
import { runWithRemote } from './remote.ts'
import type { GitRepository } from './repository-url.ts'

const OF_A_RUN = new RegExp(`^${RUN_BRANCH_PREFIX}[1-9][0-9]*-.`)

export type Pushed = { status: 'pushed' | 'up_to_date' }

/**
 * Pushes one commit of the mirror to one branch of the remote, never by force, and only to a branch of a run.
 * GitError `rejected` (not a fast-forward, a protected branch, a hook: the message has the remote's own words), `unreachable`, `auth`, `not_found`, `timeout`, `failed`.
 */
export async function pushBranch(
  host: GitHost,
  repo: GitRepository,
  sha: string,
  branch: string,
  options: { timeout_ms?: number; signal?: AbortSignal } = {},
): Promise<Pushed> {
  if (!OF_A_RUN.test(branch) || !isRefName(branch))
    throw new GitError('failed', `the service pushes to branches ${RUN_BRANCH_PREFIX}… only`)
  const commit = asSha(sha)
  const result = await runWithRemote(host, repo, 'receive-pack', {
    git_dir: mirrorPath(host, repo.id),
    timeout_ms: options.timeout_ms ?? 300_000,
    ...(options.signal ? { signal: options.signal } : {}),
    args: address => ['push', '--porcelain', '--no-verify', '--no-signed', '--', address, `${commit}:refs/heads/${branch}`],
  })
  const line = result.stdout
    .toString()
    .split('\n')
    .find(text => /^[ +\-*!=]\t/.test(text))
  if (line?.startsWith('!')) throw rejection(line, result.stderr)
  if (result.exit_code !== 0) throw gitErrorFrom(result.stderr, 'the branch cannot be pushed')
  return { status: line?.startsWith('=') ? 'up_to_date' : 'pushed' }
}

/** `!\t<from>:<to>\t[remote rejected] (pre-receive hook declined)` and the lines that the remote wrote. */
function rejection(line: string, stderr: string): GitError {
  const why = line.split('\t')[2] ?? line
  const said = stderr
    .split(/[\r\n]+/)
    .filter(text => text.startsWith('remote: '))
    .map(text => text.slice('remote: '.length).trimEnd())
    .filter(text => text !== '')
    .join('\n')
  return new GitError('rejected', `the remote refused the branch: ${why}${said ? `\n${said.slice(0, 2_000)}` : ''}`)
}
