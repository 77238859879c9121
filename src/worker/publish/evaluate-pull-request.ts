import { withoutOrigin } from '../../agent/phases/proposal-text.ts'
import { pullRequestOpinionOf, together } from '../../agent/phases/review.ts'
import { evaluatePullRequest } from '../../core/pull-requests/pull-request-findings.ts'
import { unanswered } from '../../core/pull-requests/pull-request-template.ts'
import { refreshMirrorNow } from '../../git/mirrors/mirrors.ts'
import { GitError } from '../../git/process/git-error.ts'
import { tryMerge } from '../../git/publish/mergeable.ts'
import { openHeldBack, recordReview } from '../../store/pull-requests/pull-request-moves.ts'
import { findByBranch } from '../../store/pull-requests/pull-requests.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { entry } from '../../trace/entry.ts'
import { latestEvaluation } from './latest-evaluation.ts'
import type { CommittedPublication } from './publication.ts'
import { readTemplate } from './pull-request-template.ts'
import { recordedReview } from './recorded-review.ts'

const FETCH_MS = 5_000

/**
 * Evaluates, as the PR agent, the pull request of the branch by rules and by the review of its commits,
 * records the result in the trace, once per head, and marks it as ready when it passes. A pull request that a
 * person made a draft, or opened, stays as it is (specification.md#logs).
 */
export async function evaluateProposed(committed: CommittedPublication): Promise<void> {
  const { deps, writer, base, head } = committed
  const { organization_id, run_id } = writer
  const pr = await findByBranch(deps.db, organization_id, base.repository.id, base.branch)
  if (!pr || pr.run_id !== run_id || pr.head_sha !== head || (pr.state !== 'draft' && pr.state !== 'open'))
    return
  const latest = await latestEvaluation(writer, 'PR_EVALUATION')
  if (latest?.head_sha === head && latest.pr_number === pr.number) return
  const by_rules = await evaluateByRules(committed, pr)
  const review = by_rules.verdict === 'fail' ? null : await recordedReview(writer, head)
  const { verdict, findings, evaluated_by } = together(by_rules, review && pullRequestOpinionOf(review))
  await deps.db.transaction(async tx => {
    const observation = { pr_number: pr.number, head_sha: head, verdict, findings, evaluated_by }
    await writer.append({ entries: [entry({ message_type: 'PR_EVALUATION', observation })] }, tx)
    await recordReview(tx, organization_id, pr.id, { head_sha: head, verdict })
    if (verdict === 'fail' || !(await openHeldBack(tx, organization_id, pr.id, head))) return
    const body = { pr_number: pr.number, state: 'open', created: false }
    await reportRun(tx, writer.run, { event: { type: 'agent_run.pull_request', body } })
  })
}

async function evaluateByRules(
  { deps, writer, base, head, words }: CommittedPublication,
  pr: Awaited<ReturnType<typeof findByBranch>> & object,
) {
  const commits = await latestEvaluation(writer, 'COMMIT_EVALUATION')
  const template = await readTemplate(deps, base)
  // The base may have moved while the agent worked. A remote that does not respond is not a fault of the
  // change.
  await refreshMirrorNow(deps.git, base.repository, { wait_ms: FETCH_MS }).catch(ignoreGit)
  return evaluatePullRequest({
    title: pr.title,
    description: words.description,
    base_branch: pr.base_branch,
    unanswered: template === null ? [] : unanswered(template, withoutOrigin(pr.body)),
    commits: commits?.head_sha === head ? (commits.verdict ?? null) : null,
    mergeable: await tryMerge(deps.git, base.repository.id, pr.base_branch, head),
    files_changed: pr.files_changed,
    additions: pr.additions,
    deletions: pr.deletions,
  })
}

function ignoreGit(error: unknown): void {
  if (!(error instanceof GitError)) throw error
}
