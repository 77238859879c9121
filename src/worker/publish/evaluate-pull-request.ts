import { type Proposal, withoutOrigin } from '../../agent/phases/pull-request.ts'
import { opinionOf, pullRequestQuestion, together } from '../../agent/phases/review.ts'
import { evaluatePullRequest } from '../../core/pull-requests/pull-request-findings.ts'
import { unanswered } from '../../core/pull-requests/pull-request-template.ts'
import { GitError } from '../../git/process/git-error.ts'
import { fetchBranches } from '../../git/publish/merge.ts'
import { tryMerge } from '../../git/publish/mergeable.ts'
import { getChange } from '../../store/changes.ts'
import { openHeldBack } from '../../store/pull-requests/pull-request-moves.ts'
import { findByBranch } from '../../store/pull-requests/pull-requests.ts'
import { insertEvent } from '../../store/runs/events.ts'
import { entry } from '../../trace/entry.ts'
import type { Base } from '../base/base.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { AskingDeps } from '../turns/side-question-journal.ts'
import { latestEvaluation } from './latest-evaluation.ts'
import { readTemplate } from './pull-request-template.ts'

const FETCH_MS = 5_000

/**
 * The second half of the PR agent: looks at the pull request of the branch as it stands, says so in the trace, once for each head, and takes
 * it out of the draft that it was made as when it passes. One that a person made a draft, or opened, is left as it is (specification.md#logs).
 */
export async function evaluateProposed(deps: AskingDeps, writer: RunWriter, base: Base, head: string, words: Proposal): Promise<void> {
  const { organization_id, run_id } = writer
  const pr = await findByBranch(deps.db, organization_id, base.repository.id, base.branch)
  if (!pr || pr.run_id !== run_id || pr.head_sha !== head || (pr.state !== 'draft' && pr.state !== 'open')) return
  const told = await latestEvaluation(writer, 'PR_EVALUATION')
  if (told?.head_sha === head && told.pr_number === pr.number) return
  const commits = await latestEvaluation(writer, 'COMMIT_EVALUATION')
  const template = await readTemplate(deps, base)
  // Where the base is now: it may have moved while the agent worked. A remote that does not say so is no fault of the change.
  await fetchBranches(deps.git, base.repository, { base: pr.base_branch, head: pr.head_branch }, FETCH_MS).catch(ignoreGit)
  const by_rules = evaluatePullRequest({
    ...{ title: pr.title, description: words.description, base_branch: pr.base_branch },
    unanswered: template === null ? [] : unanswered(template, withoutOrigin(pr.body)),
    commits: commits?.head_sha === head ? (commits.verdict ?? null) : null,
    mergeable: await tryMerge(deps.git, base.repository.id, pr.base_branch, head),
    ...{ files_changed: pr.files_changed, additions: pr.additions, deletions: pr.deletions },
  })
  const opinion =
    by_rules.verdict === 'fail' ? null : opinionOf(await deps.ask(pullRequestQuestion(head, pr, await changeOf(deps, writer))))
  const { verdict, findings, evaluated_by } = together(by_rules, opinion)
  await deps.db.transaction(async tx => {
    const observation = { pr_number: pr.number, head_sha: head, verdict, findings, evaluated_by }
    await writer.append({ entries: [entry({ message_type: 'PR_EVALUATION', observation })] }, tx)
    if (verdict === 'fail' || !(await openHeldBack(tx, organization_id, pr.id, head))) return
    const event = { pr_number: pr.number, state: 'open', created: false }
    await insertEvent(tx, organization_id, run_id, 'agent_run.pull_request', event)
  })
}

async function changeOf(deps: WorkerDeps, { organization_id, run_id }: RunWriter) {
  return (await getChange(deps.db, organization_id, run_id)) ?? { patch: '', patch_truncated: false }
}

function ignoreGit(error: unknown): void {
  if (!(error instanceof GitError)) throw error
}
