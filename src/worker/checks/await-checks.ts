import type { JournalRecord, TurnEnding } from '../../agent/conversation.ts'
import { isCheckResource, type UnreadableChecks } from '../../core/forges/forge-permissions.ts'
import { type FailingCheck, nextRound } from '../../core/pull-requests/check-rounds.ts'
import { checkSettings, retriesOf } from '../../core/pull-requests/check-settings.ts'
import { checksVerdict, isFixable } from '../../core/pull-requests/checks-verdict.ts'
import { failingExcerpt } from '../../core/pull-requests/failing-excerpt.ts'
import { treeOf } from '../../git/read/revisions.ts'
import { SandboxError } from '../../sandbox/port.ts'
import { listRepositoryGaps } from '../../store/forges/forge-gaps.ts'
import { getCheckSuiteSettings } from '../../store/pull-requests/check-suite-settings.ts'
import { listPullRequests } from '../../store/pull-requests/pull-requests.ts'
import { type Evaluation, findLatestEvaluation, listPushes } from '../../store/runs/journal.ts'
import { getRun, type RunRow } from '../../store/runs/runs.ts'
import { isEnded } from '../publish/ended-pull-request.ts'
import { latestEvaluation } from '../publish/latest-evaluation.ts'
import { type ChecksResult, judge, outcomeOfChecks, sendBack } from './check-records.ts'
import { isOnForge, syncChecks } from './forge-checks.ts'
import { type Local, localChecks, seenChecks } from './local-checks.ts'
import type { AwaitChecksInput, KnownCheck, PushedHead } from './pushed-head.ts'
import { EXCERPT_CHARS, runChecks } from './run-checks.ts'

/** `left`: the run was stopped or moved meanwhile. `interrupted`: checks that were running have no result. */
export type AwaitedChecks =
  | ChecksResult
  | { kind: 'sent_back' }
  | { kind: 'waiting'; seconds: number }
  | { kind: 'left' }
  | { kind: 'interrupted' }

/** The answer of a turn that starts with checks and has nothing to fix. */
export const CHECKS_REVIEWED: TurnEnding = {
  kind: 'answer',
  text: 'The checks of the pushed commit were checked again.',
  thought: null,
}

/**
 * Returns whether the turn started because checks failed after the run had ended: no message of a person
 * belongs to it.
 */
export const isOfChecks = (run: RunRow, records: readonly JournalRecord[]): boolean =>
  run.turn > 1 &&
  run.pending_messages === 0 &&
  !records.some(({ kind, turn }) => kind === 'message' && turn === run.turn)

const nothing: AwaitedChecks = { kind: 'done', outcome: null, summary: null }

/**
 * Follows the checks of a push. Checks that the signal of the step interrupts run again when the run gets
 * here the next time.
 */
export async function awaitChecksUnlessInterrupted(to: AwaitChecksInput): Promise<AwaitedChecks> {
  try {
    return await awaitChecks(to)
  } catch (error) {
    // The abort stops the sandbox, so a command in it fails with SandboxError.
    if (to.signal.aborted && (error === to.signal.reason || error instanceof SandboxError))
      return { kind: 'interrupted' }
    throw error
  }
}

/**
 * Runs the checks of the service, waits for those of the forge, and returns failures to the agent until all
 * pass or a guard ends that. The result is in the journal, so after a crash the next worker returns the same
 * and counts nothing twice.
 */
async function awaitChecks(to: AwaitChecksInput): Promise<AwaitedChecks> {
  const { deps, writer, run, signal } = to
  const now = await getRun(deps.db, run.organization_id, run.id)
  const sha = now?.pushed_sha ?? null
  if (!now || now.banned || sha === null) return nothing
  const judged = await findLatestEvaluation(deps.db, run.organization_id, run.id)
  if (judged !== undefined && judged.turn === run.turn && judged.head_sha === sha) return judgedBefore(judged)
  const local = await localChecks(to, sha)
  const age_ms = await pushedAgo(to, sha)
  if (!(await hasChecks(to, local, age_ms))) return knownChecks(local)
  if (!(await writer.change({ from: ['running'], to: 'running', phase: 'evaluate' }))) return { kind: 'left' }
  await runChecks({ ...to, head_sha: sha }, local.to_run)
  signal.throwIfAborted()
  const on_forge = await syncChecks(deps, to.base.repository, sha, async text =>
    failingExcerpt(await writer.redactor.text(text), EXCERPT_CHARS),
  )
  const head = await readHead(to, { sha, branch: now.branch, on_forge, local })
  return decide(to, head, {
    on_forge,
    age_seconds: (age_ms ?? Date.now() - run.turn_started_at.getTime()) / 1000,
  })
}

const judgedBefore = ({ because, failed, summary }: Evaluation): ChecksResult => ({
  kind: 'done',
  outcome: outcomeOfChecks(because, failed),
  summary,
})

/**
 * The checks of a commit that an earlier turn has pushed: they are not followed again, but those that fail
 * still do.
 */
function knownChecks({ known }: Local): ChecksResult {
  const names = checksVerdict(known).failing.map(check => check.name)
  if (names.length === 0) return { kind: 'done', outcome: null, summary: null }
  return {
    kind: 'done',
    outcome: 'failed',
    summary: `Checks of the pushed commit fail: ${names.join(', ')}.`,
  }
}

/**
 * Whether there is anything to follow. A turn that pushed nothing leaves the checks of the commit as they
 * are.
 */
async function hasChecks(
  { deps, base, started_by_checks, rounds }: AwaitChecksInput,
  { known, commands }: Local,
  age_ms: number | null,
): Promise<boolean> {
  const follows = age_ms !== null || started_by_checks || rounds.length > 0
  if (!follows && !known.some(check => check.source === 'local' && check.status !== 'completed')) return false
  return commands.length + known.length > 0 || (await isOnForge(deps, base.repository))
}

async function readHead(
  to: AwaitChecksInput,
  { sha, branch, on_forge, local }: { sha: string; branch: string | null; on_forge: boolean; local: Local },
): Promise<PushedHead> {
  const { deps, run, base } = to
  const settings = checkSettings(
    await getCheckSuiteSettings(deps.db, run.organization_id, base.repository.id),
  )
  const proposed = await listPullRequests(deps.db, run.organization_id, [run.id])
  const pr = proposed.findLast(one => one.head_branch === branch) ?? null
  const checks = await seenChecks(to, sha, local.commands)
  return {
    sha,
    checks,
    commands: local.commands,
    settings,
    pr,
    unreadable: on_forge ? await unreadableOf(to) : [],
  }
}

/**
 * `age_seconds`: since the push; a turn that pushed nothing waits from its start on, or a check that never
 * ends would be awaited for ever.
 */
async function decide(
  to: AwaitChecksInput,
  head: PushedHead,
  { on_forge, age_seconds }: { on_forge: boolean; age_seconds: number },
): Promise<AwaitedChecks> {
  const { deps } = to
  const verdict = checksVerdict(head.checks, head.settings.high_priority_apps)
  const seen = head.checks.some(check => check.source !== 'local')
  if (on_forge && !seen && age_seconds < deps.ci_first_seconds)
    return { kind: 'waiting', seconds: deps.ci_first_seconds - age_seconds }
  if (verdict.state === 'none') return head.unreadable.length === 0 ? nothing : judge(to, head, null)
  if (!verdict.settled) {
    const left = deps.ci_wait_seconds - age_seconds
    return left > 0 ? { kind: 'waiting', seconds: left } : judge(to, head, 'time_over')
  }
  if (verdict.failed === 0) return judge(to, head, null)
  if (head.pr !== null && isEnded(head.pr)) return judge(to, head, 'pull_request_ended')
  return fixOrStop(to, head, verdict.failing)
}

async function fixOrStop(
  to: AwaitChecksInput,
  head: PushedHead,
  failed: readonly KnownCheck[],
): Promise<AwaitedChecks> {
  const { deps, base, rounds } = to
  const failing: FailingCheck[] = failed.map(check => ({
    name: check.name,
    attempt: check.attempt,
    fixable: isFixable(check),
  }))
  const tree = await treeOf(deps.git, base.repository.id, head.sha)
  const found = { head_sha: head.sha, tree, failing, findings: await findingsOf(to, head.sha) }
  const next = nextRound(rounds, found, name => retriesOf(head.settings, name))
  if (next.kind === 'stop') return judge(to, head, next.because, next)
  await sendBack(to, head, found, next)
  return { kind: 'sent_back' }
}

async function unreadableOf({ deps, run, base }: AwaitChecksInput): Promise<UnreadableChecks> {
  const gaps = await listRepositoryGaps(deps.db, run.organization_id, [base.repository.id])
  return gaps.map(gap => gap.resource).filter(isCheckResource)
}

/** How long ago this turn pushed the commit, in ms; null: it did not. */
async function pushedAgo({ deps, run }: AwaitChecksInput, sha: string): Promise<number | null> {
  const pushes = await listPushes(deps.db, run.organization_id, run.id)
  const push = pushes.findLast(pushed => pushed.turn === run.turn && pushed.sha === sha)
  return push?.age_ms ?? null
}

/** The number of findings that the commit agent has about the commits up to this one. */
async function findingsOf({ writer }: AwaitChecksInput, sha: string): Promise<number> {
  const evaluation = await latestEvaluation(writer, 'COMMIT_EVALUATION')
  return evaluation?.head_sha === sha ? (evaluation.findings_total ?? 0) : 0
}
