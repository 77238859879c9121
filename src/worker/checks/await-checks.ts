import type { JournalRecord, TurnEnding } from '../../agent/conversation.ts'
import { checksFailedMessage, checksSaid } from '../../agent/phases/checks-failed.ts'
import type { CheckCommandsInput } from '../../contract/pull-requests/checks.ts'
import { isCheckResource, type UnreadableChecks, unreadableSentence } from '../../core/forges/forge-permissions.ts'
import { type CheckRound, type Failing, type NextRound, nextRound, type StopReason } from '../../core/pull-requests/check-rounds.ts'
import { type CheckSettings, checkSettings, retriesOf } from '../../core/pull-requests/check-settings.ts'
import { checksVerdict, hasFailed, isMendable } from '../../core/pull-requests/checks-verdict.ts'
import { failingExcerpt } from '../../core/pull-requests/failing-excerpt.ts'
import { treeOf } from '../../git/read/revisions.ts'
import { SandboxError } from '../../sandbox/port.ts'
import { listRepositoryGaps } from '../../store/forges/forge-gaps.ts'
import { getCheckCommands } from '../../store/pull-requests/check-commands.ts'
import { getCheckSuiteSettings } from '../../store/pull-requests/check-suite-settings.ts'
import { type CheckRow, listChecks } from '../../store/pull-requests/checks.ts'
import { listPullRequests, type PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import { lastJudged, listPushes } from '../../store/runs/journal.ts'
import { getRun, type RunRow } from '../../store/runs/runs.ts'
import { entry } from '../../trace/entry.ts'
import { latestEvaluation } from '../publish/latest-evaluation.ts'
import { isEnded } from '../publish/propose.ts'
import type { CheckPlacesInput } from './check-places.ts'
import { isOnForge, lookAtForge } from './forge-checks.ts'
import { type CheckToRun, EXCERPT_CHARS, runChecks } from './run-checks.ts'

export type Following = Omit<CheckPlacesInput, 'head_sha'> & {
  /** The attempts of this turn to mend failing checks. */
  rounds: readonly CheckRound[]
  /** The turn began for them: they failed after the run had ended. */
  late: boolean
  /** What the agent said when it finished. */
  answer: string
}
/** `done`: `said` belongs to the final answer; null: there is nothing to say of checks. `left`: the run is not to go on. `interrupted`: what was run has no outcome. */
export type Followed =
  | { kind: 'done'; said: string | null }
  | { kind: 'sent_back' }
  | { kind: 'waiting'; seconds: number }
  | { kind: 'left' }
  | { kind: 'interrupted' }

/** What a turn that begins with checks answers if there is nothing to mend. */
export const LOOKED_AGAIN: TurnEnding = { kind: 'answer', text: 'The checks of what was pushed were looked at again.', thought: null }

/** Whether the turn began because checks failed after the run had ended: nobody else has said anything in it. */
export const isOfChecks = (run: RunRow, records: readonly JournalRecord[]): boolean =>
  run.turn > 1 && run.pending_messages === 0 && !records.some(({ kind, turn }) => kind === 'message' && turn === run.turn)

/** What is known of the pushed commit. */
type Head = {
  sha: string
  checks: Seen[]
  commands: CheckCommandsInput['checks']
  settings: CheckSettings
  pr: PullRequestRow | null
  unreadable: UnreadableChecks
}
type Seen = CheckRow & { ignored: boolean }

type Attempt = Pick<NextRound, 'attempt' | 'max_attempts'>
const NO_ATTEMPT: Attempt = { attempt: 0, max_attempts: 0 }
const MOST = { checks: 50, thought: 2_000 }
const nothing: Followed = { kind: 'done', said: null }

/**
 * What comes after a push: the checks of the service run, those of others are waited for, and what fails goes back to the agent until all
 * pass or a guard says that it is enough. What came of it is in the journal, so whoever goes on after a crash says the same and counts nothing twice.
 */
async function awaitChecks(to: Following): Promise<Followed> {
  const { deps, writer, run, base, rounds, signal } = to
  const now = await getRun(deps.db, run.organization_id, run.id)
  const sha = now?.pushed_sha ?? null
  if (!now || now.banned || sha === null) return nothing
  const judged = await lastJudged(deps.db, run.organization_id, run.id)
  if (judged !== undefined && judged.turn === run.turn && judged.head_sha === sha) return { kind: 'done', said: judged.said }

  const commands = JSON.parse(
    (await getCheckCommands(deps.db, run.organization_id, base.repository.id))?.checks ?? '[]',
  ) as Head['commands']
  const look = async () => {
    const all = await listChecks(deps.db, run.organization_id, [{ repository_id: base.repository.id, head_sha: sha }])
    // One that somebody has taken away since says nothing any more.
    return all.filter(check => check.source !== 'local' || commands.some(({ name }) => name === check.name))
  }
  const known = await look()
  const age_ms = await pushedAgo(to, sha)
  // A turn that pushed nothing leaves what was said of the commit as it is.
  const to_follow = age_ms !== null || to.late || rounds.length > 0
  if (!to_follow && !known.some(check => check.source === 'local' && check.status !== 'completed')) return nothing
  if (commands.length + known.length === 0 && !(await isOnForge(deps, base.repository))) return nothing
  if (!(await writer.move({ from: ['running'], to: 'running', phase: 'evaluate' }))) return { kind: 'left' }
  await runChecks(
    { ...to, head_sha: sha },
    commands.flatMap(check => toRun(check, known, rounds, sha)),
  )
  signal.throwIfAborted()

  const on_forge = await lookAtForge(deps, base.repository, sha, async text =>
    failingExcerpt(await writer.redactor.text(text), EXCERPT_CHARS),
  )
  const settings = checkSettings(await getCheckSuiteSettings(deps.db, run.organization_id, base.repository.id))
  const proposed = await listPullRequests(deps.db, run.organization_id, [run.id])
  const pr = proposed.findLast(one => one.head_branch === now.branch) ?? null
  const head: Head = { sha, checks: await look(), commands, settings, pr, unreadable: on_forge ? await unreadableOf(to) : [] }
  const verdict = checksVerdict(head.checks, settings.high_priority_apps)
  // What this turn has not pushed is waited for from its beginning on: a check that never ends would be waited for again and again.
  const age_seconds = (age_ms ?? Date.now() - run.turn_started_at.getTime()) / 1000
  const seen = head.checks.some(check => check.source !== 'local')
  if (on_forge && !seen && age_seconds < deps.ci_first_seconds) return { kind: 'waiting', seconds: deps.ci_first_seconds - age_seconds }
  if (verdict.state === 'none') return head.unreadable.length === 0 ? nothing : judge(to, head, null)
  if (!verdict.settled) {
    const left = deps.ci_wait_seconds - age_seconds
    return left > 0 ? { kind: 'waiting', seconds: left } : judge(to, head, 'time_over')
  }
  if (verdict.failed === 0) return judge(to, head, null)
  if (pr !== null && isEnded(pr)) return judge(to, head, 'pull_request_ended')
  const failing: Failing[] = verdict.failing.map(check => ({ name: check.name, attempt: check.attempt, mendable: isMendable(check) }))
  const found = { head_sha: sha, tree: await treeOf(deps.git, base.repository.id, sha), failing, findings: await findingsOf(to, sha) }
  const next = nextRound(rounds, found, name => retriesOf(settings, name))
  if (next.kind === 'stop') return judge(to, head, next.because, next)
  const round: CheckRound = {
    ...{ head_sha: sha, tree: found.tree, findings: found.findings, worked_on: next.on, attempt: next.attempt },
    failing: failing.map(({ name, attempt }) => ({ name, attempt })),
  }
  await writer.append({
    entries: [...fixed(to, head, null), detected(head, next)],
    records: [
      { kind: 'message', key: 'checks_failed', body: JSON.stringify({ messages: [messageOf(head, next, next.on)], checks_failed: round }) },
    ],
  })
  return { kind: 'sent_back' }
}

/** The same. What its signal cuts short is run again when the run comes here again. */
export async function followUnlessInterrupted(to: Following): Promise<Followed> {
  try {
    return await awaitChecks(to)
  } catch (error) {
    // A sandbox that is ended in the middle of a command is lost to whoever waits for it.
    if (to.signal.aborted && (error === to.signal.reason || error instanceof SandboxError)) return { kind: 'interrupted' }
    throw error
  }
}

async function unreadableOf({ deps, run, base }: Following): Promise<UnreadableChecks> {
  const gaps = await listRepositoryGaps(deps.db, run.organization_id, [base.repository.id])
  return gaps.map(gap => gap.resource).filter(isCheckResource)
}

/** How long ago this turn pushed the commit; null: it did not. */
async function pushedAgo({ deps, run }: Following, sha: string): Promise<number | null> {
  const pushes = await listPushes(deps.db, run.organization_id, run.id)
  const push = pushes.findLast(({ turn, body }) => turn === run.turn && (JSON.parse(body) as { sha: string }).sha === sha)
  return push?.age_ms ?? null
}

/** What has no outcome for this commit, and what failed before the agent was asked to mend it and has pushed nothing else. */
function toRun(check: Head['commands'][number], known: readonly Seen[], rounds: readonly CheckRound[], sha: string): CheckToRun[] {
  const row = known.find(one => one.source === 'local' && one.name === check.name)
  if (row === undefined) return [{ ...check, attempt: 1 }]
  if (row.status !== 'completed') return [{ ...check, attempt: row.attempt }]
  const mended = rounds.some(
    ({ head_sha, failing }) => head_sha === sha && failing.some(({ name, attempt }) => name === row.name && attempt >= row.attempt),
  )
  return hasFailed(row) && mended ? [{ ...check, attempt: row.attempt + 1 }] : []
}

/** What the commit agent found in the commits up to this one. */
async function findingsOf({ writer }: Following, sha: string): Promise<number> {
  const said = await latestEvaluation(writer, 'COMMIT_EVALUATION')
  return said?.head_sha === sha ? (said.findings_total ?? 0) : 0
}

/** The end of the matter for this turn and commit, written down once. */
async function judge(to: Following, head: Head, because: StopReason | null, next = NO_ATTEMPT): Promise<Followed> {
  const { writer, rounds } = to
  const { passed, failing } = checksVerdict(head.checks)
  const names = failing.map(check => check.name)
  const outcome =
    passed + names.length === 0 && because === null
      ? 'Checks: none is known.'
      : checksSaid({ head_sha: head.sha, passed, failing: names, attempts: rounds.length, because })
  const said = [outcome, unreadableSentence(head.unreadable, passed + names.length > 0)].filter(part => part !== '').join(' ')
  // What nobody was asked to mend was not told yet.
  const untold = rounds.length === 0 && because !== null && names.length > 0 ? [detected(head, next)] : []
  await writer.append({
    entries: [...untold, ...fixed(to, head, because)],
    records: [{ kind: 'checks_judged', key: null, body: JSON.stringify({ head_sha: head.sha, said, because }) }],
  })
  return { kind: 'done', said }
}

const failingOf = ({ checks }: Head) => checksVerdict(checks).failing

function detected(head: Head, { attempt, max_attempts }: Attempt) {
  const checks = failingOf(head).slice(0, MOST.checks)
  const observation = {
    pr_number: head.pr?.number ?? null,
    head_sha: head.sha,
    checks: checks.map(({ name, conclusion, url, log_excerpt }) => ({ name, conclusion, url, log_excerpt })),
    ...{ attempt, max_attempts },
  }
  return entry({ message_type: 'DETECT_PR_ERRORS', observation })
}

/** What came of the last attempt, told when the checks of what it made have ended: only then is it known. */
function fixed({ rounds, answer }: Following, head: Head, because: StopReason | null) {
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
  const thought = last === undefined ? 'No attempt was made to mend the checks that failed.' : answer.slice(0, MOST.thought)
  return [entry({ message_type: 'FIX_PR_ERRORS', thought, observation })]
}

function messageOf(head: Head, { attempt, max_attempts }: Attempt, on: readonly string[]) {
  const failing = failingOf(head)
  const checks = failing.filter(check => on.includes(check.name)).slice(0, MOST.checks)
  return checksFailedMessage({
    ...{ head_sha: head.sha, attempt, max_attempts },
    checks: checks.map(({ name, source, conclusion, log_excerpt }) => ({
      ...{ name, conclusion: conclusion ?? 'failure', log_excerpt },
      command: source === 'local' ? (head.commands.find(command => command.name === name)?.command ?? null) : null,
      prompt: Object.hasOwn(head.settings.custom_prompts, name) ? (head.settings.custom_prompts[name] ?? null) : null,
    })),
    others: failing.map(check => check.name).filter(name => !on.includes(name)),
  })
}
