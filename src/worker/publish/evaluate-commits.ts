import { setImmediate } from 'node:timers/promises'
import type { Change } from '../../agent/phases/change-text.ts'
import { withoutOrigin } from '../../agent/phases/proposal-text.ts'
import { opinionOf, type ReviewedPullRequest, reviewQuestion, together } from '../../agent/phases/review.ts'
import {
  changedPaths,
  evaluateCommits,
  type Finding,
  isOfHistory,
} from '../../core/pull-requests/commit-findings.ts'
import { type Approval, needsApproval, readApprovals } from '../../core/pull-requests/path-approvals.ts'
import { isAncestor } from '../../git/publish/merge.ts'
import { type Commit, listCommits } from '../../git/read/commits.ts'
import { conflictMarkers } from '../../git/read/conflict-markers.ts'
import type { ModelMessage } from '../../model/port.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { findByBranch } from '../../store/pull-requests/pull-requests.ts'
import { entry } from '../../trace/entry.ts'
import { objectsOfRun } from '../base/base.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { isEnded } from './ended-pull-request.ts'
import type { HeadReader } from './export-commit.ts'
import { latestEvaluation } from './latest-evaluation.ts'
import type { CommittedPublication, NotPublished } from './publication.ts'
import { readTemplate } from './pull-request-template.ts'
import { deniedForSecrets, secretsIn } from './secrets-in-commits.ts'

type CommitFinding = Omit<Finding, 'code'> & { code: Finding['code'] | 'model' }
/** How often the work of one turn is returned to the agent. */
const MAX_ROUNDS = 2
const PATHS_AT_ONCE = 50
const MAX = { commits: 50, files: 100, findings: 50, message: 1_000 }

/**
 * Reviews the commits as the commit agent before the push and records the result in the trace, once per head.
 * Commits that fail return to the agent, twice in a turn; after that only those with the value of a secret
 * are rejected. A person must approve a change of files that run elsewhere, because CI for example runs them
 * with credentials that no sandbox has, or that the organization names. Null: they may be pushed.
 */
export async function evaluateTurn(
  committed: CommittedPublication,
  pushed_sha: string | null,
  read: { change: Change; reader: HeadReader },
): Promise<NotPublished | null> {
  const { deps, writer, head, sent_back } = committed
  const since = await reviewedSince(committed, pushed_sha)
  const { listed, secrets, ...review } = await reviewCommits(committed, since, read)
  const { verdict, findings } = review
  const returned = verdict === 'fail' && sent_back.length < MAX_ROUNDS
  if (returned || (await latestEvaluation(writer, 'COMMIT_EVALUATION'))?.head_sha !== head) {
    const commits = (await redactedMessages(writer, listed)).map(({ sha, message, files }) => ({
      sha,
      message: message.slice(0, MAX.message),
      files: files.slice(0, MAX.files),
    }))
    const shown = {
      head_sha: head,
      verdict,
      findings: findings.slice(0, MAX.findings),
      findings_total: findings.length,
    }
    const observation = { commits, ...shown, evaluated_by: review.evaluated_by }
    const records = returned ? [messageRecord(findings, since)] : []
    await writer.append({ entries: [entry({ message_type: 'COMMIT_EVALUATION', observation })], records })
  }
  if (returned) return { kind: 'sent_back' }
  if (secrets.length > 0) return await deniedForSecrets(writer, secrets)
  return needsApproval(findings, deps.approve_ci_changes) && committed.run.approved_sha !== head
    ? { kind: 'waiting', approval_of: head }
    : null
}

/**
 * The commit after which the review starts: the last one that was pushed, if the head builds on it, or the
 * base.
 */
async function reviewedSince(
  { deps, run, base, head }: CommittedPublication,
  pushed_sha: string | null,
): Promise<string> {
  if (pushed_sha === null) return base.sha
  return (await isAncestor(deps.git, objectsOfRun(run, base), pushed_sha, head).catch(() => false))
    ? pushed_sha
    : base.sha
}

/** Lets the event loop continue between the paths, of which a commit may change hundreds of thousands. */
async function approvalsOf(
  paths: string[],
  approvalFor: (path: string) => Approval | null,
): Promise<Map<string, Approval>> {
  const approvals = new Map<string, Approval>()
  for (const [n, path] of paths.entries()) {
    if (n % PATHS_AT_ONCE === PATHS_AT_ONCE - 1) await setImmediate()
    const approval = approvalFor(path)
    if (approval !== null) approvals.set(path, approval)
  }
  return approvals
}

async function reviewCommits(
  committed: CommittedPublication,
  since: string,
  { change: whole, reader }: { change: Change; reader: HeadReader },
) {
  const { deps, run, gaps } = committed
  const listed = await reviewedCommits(committed, since, reader)
  const changes = await reader.changesSince(since)
  const { blobs } = await reader.newObjectsSince(since)
  // Of the whole branch: a value that was pushed once by mistake is not pushed again.
  const secrets = await secretsIn(committed, reader)
  const conflicts = conflictMarkers(changes.patch)
  const organization = await getOrganization(deps.db, run.organization_id)
  const approvals = await approvalsOf(
    changes.files.flatMap(changedPaths),
    readApprovals(organization?.approval_paths ?? []),
  )
  const by_rules = evaluateCommits({
    commits: listed,
    files: changes.files,
    blobs,
    secrets,
    conflicts,
    approvals,
    gaps,
  })
  // Commits that fail by rules need no model.
  const opinion =
    by_rules.verdict === 'fail' ? null : opinionOf(await requestReview(committed, listed, { changes, whole }))
  return { listed, secrets, ...together(by_rules, opinion) }
}

/** The newest of the commits, oldest first; those of the whole branch are read for its secrets anyway. */
async function reviewedCommits(
  { deps, run, base, head }: CommittedPublication,
  since: string,
  reader: HeadReader,
): Promise<Commit[]> {
  const { commits } = since === base.sha ? await reader.historySince(since) : { commits: null }
  return (
    commits?.slice(-MAX.commits) ??
    (await listCommits(deps.git, objectsOfRun(run, base), since, head, MAX.commits))
  )
}

/**
 * The one question about commits. A new pull request is about the whole branch, also about what an earlier
 * turn has pushed without one.
 */
async function requestReview(
  committed: CommittedPublication,
  commits: readonly { message: string }[],
  { changes, whole }: { changes: Change; whole: Change },
) {
  const { deps, writer, head } = committed
  const pull_request = await reviewedPullRequest(committed)
  const { patch, patch_truncated } = pull_request.kind === 'new' ? whole : changes
  // Redacted before the question shortens it.
  const shown = { patch: await writer.redactor.text(patch), patch_truncated }
  return deps.sendQuestion(reviewQuestion(head, await redactedMessages(writer, commits), shown, pull_request))
}

const redactedMessages = <C extends { message: string }>({ redactor }: RunWriter, commits: readonly C[]) =>
  Promise.all(commits.map(async commit => ({ ...commit, message: await redactor.text(commit.message) })))

async function reviewedPullRequest({
  deps,
  run,
  base,
  words,
}: CommittedPublication): Promise<ReviewedPullRequest> {
  if (!run.auto_create_pr) return { kind: 'none' }
  const pr = await findByBranch(deps.db, run.organization_id, base.repository.id, base.branch)
  if (pr && !isEnded(pr)) return { kind: 'existing', title: pr.title, description: withoutOrigin(pr.body) }
  return { kind: 'new', answer: words.description, template: await readTemplate(deps, base) }
}

/** The message that becomes part of the agent's conversation. */
function messageRecord(findings: CommitFinding[], since: string) {
  const errors = findings.filter(({ severity }) => severity === 'error')
  // A model may fail the commits without a finding that is an error.
  const lines = (errors.length > 0 ? errors : findings)
    .slice(0, MAX.findings)
    .map(
      ({ path, line, body }) =>
        `- ${path === null ? '' : `${path}${line === null ? '' : `:${line}`}: `}${body}`,
    )
  const reset_to = errors.some(isOfHistory) ? since : null
  const content = [
    'Your work was reviewed before the push and was not pushed, for these reasons:',
    lines.join('\n'),
    reset_to === null
      ? 'Fix it and finish again. You need not commit: what is in the workspace when you finish is committed.'
      : 'Fix the files and finish again. Your commits are then squashed into one, so that what you remove from the files is in none of them. You need not commit.',
  ].join('\n\n')
  const message: ModelMessage = { role: 'user', content }
  return {
    kind: 'message' as const,
    key: 'sent_back',
    body: JSON.stringify({ messages: [message], sent_back: { reset_to } }),
  }
}
