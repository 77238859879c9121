import { checksFailedMessage, checksSummary } from '../../agent/phases/checks-failed.ts'
import { unreadableSentence } from '../../core/forges/forge-permissions.ts'
import type {
  CheckRound,
  FoundFailures,
  NextRound,
  StopReason,
} from '../../core/pull-requests/check-rounds.ts'
import { checksVerdict } from '../../core/pull-requests/checks-verdict.ts'
import { entry } from '../../trace/entry.ts'
import type { AwaitChecksInput, PushedHead } from './pushed-head.ts'

/**
 * `summary`: belongs to the final answer; null: there is nothing to report about checks. `outcome`: why they
 * did not pass; null: they did.
 */
export type ChecksResult =
  | { kind: 'done'; outcome: null; summary: string | null }
  | { kind: 'done'; outcome: 'failed' | 'unfinished'; summary: string }

type Attempt = Pick<NextRound, 'attempt' | 'max_attempts'>
const NO_ATTEMPT: Attempt = { attempt: 0, max_attempts: 0 }
const MAX = { checks: 50, thought: 2_000 }

/** Records the end of checks for this turn and commit, once. */
export async function judge(
  to: AwaitChecksInput,
  head: PushedHead,
  because: StopReason | null,
  next = NO_ATTEMPT,
): Promise<ChecksResult> {
  const { writer, rounds } = to
  const { passed, failing } = checksVerdict(head.checks)
  const names = failing.map(check => check.name)
  const outcome =
    passed + names.length === 0 && because === null
      ? 'Checks: none is known.'
      : checksSummary({ head_sha: head.sha, passed, failing: names, attempts: rounds.length, because })
  const summary = [outcome, unreadableSentence(head.unreadable, passed + names.length > 0)]
    .filter(part => part !== '')
    .join(' ')
  // Failures that never went to the agent are not in the trace yet.
  const not_shown = rounds.length === 0 && because !== null && names.length > 0 ? [detected(head, next)] : []
  await writer.append({
    entries: [...not_shown, ...fixed(to, head, because)],
    records: [
      {
        kind: 'checks_judged',
        key: null,
        body: JSON.stringify({ head_sha: head.sha, summary, because, failed: names.length }),
      },
    ],
  })
  return { kind: 'done', outcome: outcomeOfChecks(because, names.length), summary }
}

/** `failed`: how many have failed; undefined in records of earlier versions. */
export function outcomeOfChecks(because: string | null, failed: number | undefined): ChecksResult['outcome'] {
  if (failed === 0 || failed === undefined)
    return because === null ? null : because === 'time_over' ? 'unfinished' : 'failed'
  return 'failed'
}

/** Records one more attempt to fix failing checks, with the message to the agent. */
export async function sendBack(
  to: AwaitChecksInput,
  head: PushedHead,
  found: FoundFailures,
  next: Extract<NextRound, { kind: 'work' }>,
): Promise<void> {
  const checks_failed: CheckRound = {
    head_sha: head.sha,
    tree: found.tree,
    findings: found.findings,
    worked_on: next.on,
    attempt: next.attempt,
    failing: found.failing.map(({ name, attempt }) => ({ name, attempt })),
  }
  const body = JSON.stringify({ messages: [messageOf(head, next)], checks_failed })
  await to.writer.append({
    entries: [...fixed(to, head, null), detected(head, next)],
    records: [{ kind: 'message', key: 'checks_failed', body }],
  })
}

const failingOf = ({ checks }: PushedHead) => checksVerdict(checks).failing

function detected(head: PushedHead, { attempt, max_attempts }: Attempt) {
  const checks = failingOf(head).slice(0, MAX.checks)
  const observation = {
    pr_number: head.pr?.number ?? null,
    head_sha: head.sha,
    checks: checks.map(({ name, conclusion, url, log_excerpt }) => ({ name, conclusion, url, log_excerpt })),
    attempt,
    max_attempts,
  }
  return entry({ message_type: 'DETECT_PR_ERRORS', observation })
}

/** The result of the last attempt. It is known only when the checks of its commit have ended. */
function fixed({ rounds, answer }: AwaitChecksInput, head: PushedHead, because: StopReason | null) {
  const remaining = failingOf(head).map(check => check.name)
  const last = rounds.at(-1)
  if (last === undefined && (because === null || remaining.length === 0)) return []
  const observation = {
    pr_number: head.pr?.number ?? null,
    from_sha: last?.head_sha ?? head.sha,
    to_sha: head.sha,
    fixed_checks: last?.failing.map(check => check.name).filter(name => !remaining.includes(name)) ?? [],
    remaining_checks: remaining,
    attempt: last?.attempt ?? 0,
    stopped_because: because,
  }
  const thought =
    last === undefined ? 'No attempt was made to fix the checks that failed.' : answer.slice(0, MAX.thought)
  return [entry({ message_type: 'FIX_PR_ERRORS', thought, observation })]
}

function messageOf(head: PushedHead, { attempt, max_attempts, on }: Extract<NextRound, { kind: 'work' }>) {
  const failing = failingOf(head)
  const checks = failing.filter(check => on.includes(check.name)).slice(0, MAX.checks)
  return checksFailedMessage({
    head_sha: head.sha,
    attempt,
    max_attempts,
    checks: checks.map(({ name, source, conclusion, log_excerpt }) => ({
      name,
      conclusion: conclusion ?? 'failure',
      log_excerpt,
      command:
        source === 'local' ? (head.commands.find(command => command.name === name)?.command ?? null) : null,
      prompt: Object.hasOwn(head.settings.custom_prompts, name)
        ? (head.settings.custom_prompts[name] ?? null)
        : null,
    })),
    others: failing.map(check => check.name).filter(name => !on.includes(name)),
  })
}
