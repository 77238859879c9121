import { isRefName } from '../../contract/organizations/ref-name.ts'
import type { GitRepository } from '../git-repository.ts'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { isRunBranch } from '../refs/branch-name.ts'
import { asSha } from '../refs/ref-name.ts'
import { runWithRemote } from '../refs/remote.ts'
import { NO_COMMIT, type RefCommand } from './receive-commands.ts'

type PushResult = { status: 'pushed' | 'up_to_date' }

/**
 * `moved`: the branch is not, or no longer, where it was expected. `rejected`: the remote refused, with its
 * message. Nothing was pushed in both cases.
 */
export type MergePushResult = { kind: 'pushed' } | { kind: 'moved' } | { kind: 'rejected'; message: string }

/** `env`: additional objects that may be pushed. */
type PushOptions = { timeout_ms?: number; signal?: AbortSignal; env?: Record<string, string> }

/**
 * Pushes one commit of the mirror, or of the objects in `env`, to one branch of the remote, never by force,
 * and only to a branch of a run. GitError `rejected` (not a fast-forward, a protected branch, a hook: the
 * message is the remote's), `unreachable`, `auth`, `not_found`, `timeout`, `failed`.
 */
export async function pushBranch(
  host: GitHost,
  repo: GitRepository,
  sha: string,
  branch: string,
  options: PushOptions = {},
): Promise<PushResult> {
  if (!isRunBranch(branch) || !isRefName(branch))
    throw new GitError('failed', 'the service pushes to branches of runs only')
  const ref = `refs/heads/${branch}`
  const { lines, stderr } = await push(host, repo, [], [`${asSha(sha)}:${ref}`], options)
  const line = lines.get(ref)
  if (line?.startsWith('!')) throw new GitError('rejected', rejection(line, stderr))
  return { status: line?.startsWith('=') ? 'up_to_date' : 'pushed' }
}

/**
 * Returns whether a push was rejected because the branch has commits that the pushed commit does not build
 * on.
 */
const hasOtherCommits = (error: GitError) =>
  error.code === 'rejected' && /\[rejected\] \((fetch first|non-fast-forward)\)/.test(error.message)

/**
 * Returns whether a push was rejected because a branch has the name of a folder of this one, or the other way
 * round. Retries do not help.
 */
export const isBlockedName = (error: GitError) =>
  error.code === 'rejected' &&
  /exists; cannot create|refname conflict|directory\/file conflict/.test(error.message)

/** Returns whether a push was rejected because the branch has moved, or another push to it is in progress. */
export const hasMoved = (error: GitError) =>
  error.code === 'rejected' &&
  !isBlockedName(error) &&
  (hasOtherCommits(error) ||
    MOVED.test(error.message) ||
    /failed to update ref|cannot lock ref/.test(error.message))

/**
 * Pushes a merge to the base branch, which must still be at `base_sha`, the merge's first parent, so that it
 * is a fast-forward. GitError as above except `rejected`; after one it is unknown whether the branch has
 * moved.
 */
export async function pushMerge(
  host: GitHost,
  repo: GitRepository,
  merge: { sha: string; branch: string; base_sha: string },
  options: PushOptions = {},
): Promise<MergePushResult> {
  if (!isRefName(merge.branch)) throw new GitError('failed', 'the base of the pull request is not a branch')
  const ref = `refs/heads/${merge.branch}`
  const lease = `--force-with-lease=${ref}:${asSha(merge.base_sha)}`
  const { lines, stderr } = await push(host, repo, [lease], [`${asSha(merge.sha)}:${ref}`], options)
  const line = lines.get(ref)
  if (!line?.startsWith('!')) return { kind: 'pushed' }
  const message = rejection(line, stderr)
  return MOVED.test(message) ? { kind: 'moved' } : { kind: 'rejected', message }
}

/** Git's messages, on either side, when the branch has moved or another push is in progress. */
const MOVED =
  /\((stale info|fetch first|non-fast-forward|incorrect old value provided)\)|is at [0-9a-f]{40} but expected|\.lock': File exists|reference already exists/

/**
 * Forwards a person's push, including objects that only `env` shows: every ref moves if it is still where the
 * person saw it, and by force, because the person's own git has checked that. Returns the remote's result for
 * each, null for success, and its output. GitError.
 */
export async function pushCommands(
  host: GitHost,
  repo: GitRepository,
  commands: RefCommand[],
  options: PushOptions & { atomic: boolean; env: Record<string, string> },
): Promise<{ refused: Map<string, string | null>; hook_output: string }> {
  const leases = commands.map(
    ({ ref, from }) => `--force-with-lease=${ref}:${from === NO_COMMIT ? '' : asSha(from)}`,
  )
  const extra = [...leases, ...(options.atomic ? ['--atomic'] : [])]
  const refspecs = commands.map(({ ref, to }) => `${to === NO_COMMIT ? '' : asSha(to)}:${ref}`)
  const { lines, stderr } = await push(host, repo, extra, refspecs, options)
  const refused = commands.map(({ ref }) => {
    const line = lines.get(ref)
    const reason_text = line?.split('\t')[2] ?? 'the remote did not report a result'
    return [ref, line === undefined || line.startsWith('!') ? inParentheses(reason_text) : null] as const
  })
  return { refused: new Map(refused), hook_output: remoteOutput(stderr) }
}

/** Returns what the parentheses at the end of git's report contain: its reason. */
function inParentheses(text: string): string {
  const from = text.indexOf('(') + 1
  return from > 0 && text.endsWith(')') && from < text.length - 1 ? text.slice(from, -1) : text
}

/** `lines`: git's report on each ref: its first character is the result. */
async function push(
  host: GitHost,
  repo: GitRepository,
  extra: string[],
  refspecs: string[],
  options: PushOptions,
): Promise<{ lines: Map<string, string>; stderr: string }> {
  const result = await runWithRemote(host, repo, 'receive-pack', {
    git_dir: mirrorPath(host, repo.id),
    timeout_ms: options.timeout_ms ?? 300_000,
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.env && { env: options.env }),
    args: address => [
      'push',
      '--porcelain',
      '--no-verify',
      '--no-signed',
      ...extra,
      '--',
      address,
      ...refspecs,
    ],
  })
  const lines = result.stdout
    .toString()
    .split('\n')
    .filter(text => /^[ +\-*!=]\t/.test(text))
  if (result.exit_code !== 0 && !lines.some(line => line.startsWith('!')))
    throw gitErrorFrom(result.stderr, 'the branch cannot be pushed')
  return {
    lines: new Map(lines.map(line => [(line.split('\t')[1] ?? '').split(':').at(-1) ?? '', line])),
    stderr: result.stderr,
  }
}

/** `!\t<from>:<to>\t[remote rejected] (pre-receive hook declined)` and the lines that the remote wrote. */
function rejection(line: string, stderr: string): string {
  const why = line.split('\t')[2] ?? line
  const hook_output = remoteOutput(stderr)
  return `the remote refused the branch: ${why}${hook_output ? `\n${hook_output}` : ''}`
}

/** Returns the lines that the remote wrote for people. */
function remoteOutput(stderr: string): string {
  return stderr
    .split(/[\r\n]+/)
    .filter(text => text.startsWith('remote: '))
    .map(text => text.slice('remote: '.length).trimEnd())
    .filter(text => text !== '')
    .join('\n')
}
