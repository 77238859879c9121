import { commitCommand, parseCommit } from '../../git/workspace/workspace-commands.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { lastOutcome } from '../../store/runs/journal.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Base } from '../base/base.ts'
import { workspaceRepository } from '../base/checkout.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { NotPublished } from './publish.ts'

/** What the commit of a turn says. */
export type CommitWords = { message: string; author: { name: string; email: string }; at: Date }

/**
 * The words of an owner of before, if the agent has done nothing since; otherwise ours, written down before the commit is made. So the same
 * files make the same commit whoever makes it, though addresses, settings and the title change (decisions.md#reproducible-commits, decisions.md#interrupted-pushes-are-recovered).
 */
export async function planCommit(deps: WorkerDeps, writer: RunWriter, run: RunRow, message: string): Promise<CommitWords> {
  const last = await lastOutcome(deps.db, run.organization_id, run.id)
  if (last?.kind === 'commit_started') {
    const known = JSON.parse(last.body) as Omit<CommitWords, 'at'> & { at: string }
    return { message: known.message, author: known.author, at: new Date(known.at) }
  }
  const { name, email } = deps.author
  const words = { message, author: { name, email }, at: last?.created_at ?? run.turn_started_at }
  await writer.append({ records: [{ kind: 'commit_started', key: null, body: JSON.stringify(words) }] })
  return words
}

/** Commits everything in the workspace; `head`: where it stands then, null for no commit at all. */
export async function commitTurn(
  deps: WorkerDeps,
  base: Base,
  sandbox: Sandbox,
  { message, author, at }: CommitWords,
  signal: AbortSignal,
): Promise<{ head: string | null } | NotPublished> {
  const repository = workspaceRepository(deps, base, base.sha)
  const command = commitCommand({ ...repository, author_name: author.name, author_email: author.email, message, at })
  const result = await sandbox.exec({
    command,
    shell: 'separate',
    timeout_ms: deps.git_limits.push_ms,
    max_output_bytes: 16 * 1024,
    signal,
  })
  const output = Buffer.from(result.output).toString('utf8')
  const made = result.status === 'exited' ? parseCommit(result.exit_code, output) : null
  if (made !== null) return { head: made.head_sha }
  if (result.status === 'timeout') return tooSlow('commit_timeout', 'The changes were not committed', deps.git_limits.push_ms)
  const message_text = `The changes could not be committed: ${output.trim().slice(-1_000) || result.status}`
  return { kind: 'failed', reason: 'agent_error', code: 'commit_failed', message: message_text }
}

export const tooSlow = (code: string, what: string, ms: number): NotPublished => ({
  kind: 'failed',
  reason: 'agent_error',
  code,
  message: `${what} within ${ms / 1000} s.`,
})
