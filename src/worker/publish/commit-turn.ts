import { storedJson } from '../../core/json/stored-json.ts'
import { gapText } from '../../core/pull-requests/commit-findings.ts'
import type { Failure } from '../../core/runs/outcome.ts'
import { commitCommand, parseCommit } from '../../git/workspace/commit-command.ts'
import { type CommitGap, parseGaps } from '../../git/workspace/commit-gaps.ts'
import { lastOutcome } from '../../store/runs/journal.ts'
import { errorEntry } from '../../trace/entry.ts'
import { shownReason, workspaceRepository } from '../base/checkout.ts'
import { requireGitAlive } from '../claim/killed-program.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { type BundleFile, MAX_BUNDLE_BYTES } from './bundle-file.ts'
import { type CommitWords, notPublished, type Publication } from './publication.ts'

/**
 * Returns the recorded words of an earlier worker if the agent has done nothing since; otherwise records new
 * ones before the commit is created. So the same files get the same commit on every worker, even if
 * addresses, settings or the title change (decisions.md#reproducible-commits,
 * decisions.md#interrupted-pushes-are-recovered).
 */
export async function planCommit({ deps, writer, run }: Publication, message: string): Promise<CommitWords> {
  const last = await lastOutcome(deps.db, run.organization_id, run.id)
  if (last?.kind === 'commit_started') {
    const known = storedJson<Omit<CommitWords, 'at'> & { at: string }>(last.body)
    return { message: known.message, author: known.author, at: new Date(known.at) }
  }
  const { name, email } = deps.author
  const words = { message, author: { name, email }, at: last?.created_at ?? run.turn_started_at }
  await writer.append({ records: [{ kind: 'commit_started', key: null, body: JSON.stringify(words) }] })
  return words
}

/**
 * Commits everything in the workspace, and records what it could not. `head`: the commit that the workspace
 * is at then; null when there is none. `bundle` gets the commit, unless the host has it.
 */
export async function commitTurn(
  { deps, writer, run, base, sandbox, control }: Publication,
  { message, author, at }: CommitWords,
  bundle: BundleFile,
): Promise<{ head: string | null; gaps: CommitGap[] } | Failure> {
  const repository = workspaceRepository(deps, base, base.sha)
  const command = commitCommand({
    ...repository,
    author_name: author.name,
    author_email: author.email,
    message,
    at,
    exported_sha: run.head_sha,
  })
  const bounds = { timeout_ms: deps.git_limits.push_ms, max_output_bytes: 16 * 1024, signal: control.signal }
  const result = await bundle.fill(sink => sandbox.stream({ command, ...bounds }, sink))
  if (result === 'too_large') return tooLarge()
  requireGitAlive(result)
  const output = Buffer.from(result.output).toString('utf8')
  const commit = result.status === 'exited' ? parseCommit(result.exit_code, output) : null
  if (commit !== null) {
    if (commit.bundled) bundle.head = commit.head_sha
    const gaps = parseGaps(output)
    await recordGaps(writer, gaps)
    return { head: commit.head_sha, gaps }
  }
  if (result.status === 'timeout')
    return tooSlow('commit_timeout', 'The changes were not committed', deps.git_limits.push_ms)
  const reason = await shownReason(writer, { output, ended: result.status })
  return notPublished('agent_error', 'commit_failed', `The changes could not be committed: ${reason}`)
}

/** A change without a commit leads to no review, so the trace names the paths in any case. */
async function recordGaps(writer: RunWriter, gaps: readonly CommitGap[]): Promise<void> {
  const missing = gaps.filter(({ kind }) => kind !== 'lfs')
  if (missing.length === 0) return
  const lines = missing.map(gap => `${gap.path}: ${gapText(gap)}`)
  const message = `Changes of these paths are not in the commit:\n${lines.join('\n')}`
  await writer.append({
    entries: [errorEntry({ code: 'change_not_committed', message, retryable: false, phase: 'push' })],
  })
}

/** Returns the failure of a step that did not end within `ms` milliseconds, as one sentence about `what`. */
export const tooSlow = (code: string, what: string, ms: number): Failure =>
  notPublished('agent_error', code, `${what} within ${ms / 1000} s.`)

export const tooLarge = (): Failure =>
  notPublished(
    'disk_quota',
    'change_too_large',
    `The change is larger than ${MAX_BUNDLE_BYTES / 1024 ** 2} MiB.`,
  )
