import { commitQuestion, opinionOf, together } from '../../agent/phases/review.ts'
import { evaluateCommits, type Finding, isOfHistory } from '../../core/pull-requests/commit-findings.ts'
import { isAncestor } from '../../git/publish/merge.ts'
import { readChanges } from '../../git/read/changes.ts'
import { listCommits } from '../../git/read/commits.ts'
import { conflictMarkers } from '../../git/read/conflict-markers.ts'
import { newBlobs } from '../../git/read/new-blobs.ts'
import type { ModelMessage } from '../../model/port.ts'
import { entry } from '../../trace/entry.ts'
import { type Base, objectsOfRun } from '../base/base.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { AskingDeps } from '../turns/side-question-journal.ts'
import { latestEvaluation } from './latest-evaluation.ts'
import type { NotPublished } from './publish.ts'
import { deniedForSecrets, secretsIn } from './secrets-in-commits.ts'

/** What the agent was told before in this turn, instead of a push. `reset_to`: the commit that its next one is to be made on; null: the one that it has made. */
export type SentBack = { reset_to: string | null }
type Found = Omit<Finding, 'code'> & { code: Finding['code'] | 'model' }
/** So often the agent is asked in one turn to mend what it has made. */
const MOST_ROUNDS = 2
const PATCH_BYTES = 2 * 1024 ** 2
const MOST = { commits: 50, files: 100, findings: 50, message: 1_000 }

/**
 * The commit agent: looks at what the commits bring before they are pushed, and says so in the trace, once for each head. Commits that should
 * not be pushed as they are go back to the agent that made them, twice in a turn; then those with the value of a secret are not pushed at all,
 * and others are; `approval`: a person is asked first, because CI runs what is pushed with credentials that no sandbox has.
 * Null: they may be pushed.
 */
export async function evaluateTurn(
  deps: AskingDeps,
  writer: RunWriter,
  base: Base,
  commits: { head: string; pushed_sha: string | null; approved_sha: string | null },
  sent_back: readonly SentBack[],
): Promise<{ kind: 'sent_back' } | { kind: 'approval'; head: string } | NotPublished | null> {
  const { head, pushed_sha, approved_sha } = commits
  const objects = objectsOfRun({ id: writer.run_id }, base)
  const known = pushed_sha !== null && (await isAncestor(deps.git, objects, pushed_sha, head).catch(() => false))
  const since = known ? pushed_sha : base.sha
  const [listed, changes, blobs, secrets] = [
    await listCommits(deps.git, objects, since, head, MOST.commits),
    await readChanges(deps.git, objects, since, head, { max_patch_bytes: PATCH_BYTES }),
    await newBlobs(deps.git, objects, since, head),
    // Of the whole branch: what has slipped through once is not pushed again.
    await secretsIn(deps, writer, base, head),
  ]
  const by_rules = evaluateCommits({
    ...{ commits: listed, files: changes.files, blobs, secrets },
    conflicts: conflictMarkers(changes.patch),
  })
  // Nobody pays for a second opinion of what has failed.
  const opinion = by_rules.verdict === 'fail' ? null : opinionOf(await deps.ask(commitQuestion(head, listed, changes)))
  const { verdict, findings, evaluated_by } = together(by_rules, opinion)
  const again = verdict === 'fail' && sent_back.length < MOST_ROUNDS
  const told = again ? [messageRecord(findings, since)] : []
  if (again || (await latestEvaluation(writer, 'COMMIT_EVALUATION'))?.head_sha !== head) {
    const observation = {
      commits: listed.map(({ sha, message, files }) => ({
        sha,
        message: message.slice(0, MOST.message),
        files: files.slice(0, MOST.files),
      })),
      ...{ head_sha: head, verdict, findings: findings.slice(0, MOST.findings), findings_total: findings.length, evaluated_by },
    }
    await writer.append({ entries: [entry({ message_type: 'COMMIT_EVALUATION', observation })], records: told })
  }
  if (again) return { kind: 'sent_back' }
  if (secrets.length > 0) return await deniedForSecrets(writer, secrets)
  const of_ci = findings.some(({ code }) => code === 'ci_workflow_changed')
  return of_ci && deps.approve_ci_changes && approved_sha !== head ? { kind: 'approval', head } : null
}

/** What the agent is told; part of the conversation from then on. */
function messageRecord(findings: Found[], since: string) {
  const errors = findings.filter(({ severity }) => severity === 'error')
  // A model may fail something without calling any of it an error.
  const lines = (errors.length > 0 ? errors : findings)
    .slice(0, MOST.findings)
    .map(({ path, line, body }) => `- ${path === null ? '' : `${path}${line === null ? '' : `:${line}`}: `}${body}`)
  const reset_to = errors.some(isOfHistory) ? since : null
  const content = [
    'Your work was looked at before it was pushed, and was not pushed, because of this:',
    lines.join('\n'),
    reset_to === null
      ? 'Mend it and finish again. You need not commit: what is in the workspace when you finish is committed.'
      : 'Mend the files and finish again. Your commits are put together into one then, so that what you take out of the files is in none of them. You need not commit.',
  ].join('\n\n')
  const message: ModelMessage = { role: 'user', content }
  return { kind: 'message' as const, key: 'sent_back', body: JSON.stringify({ messages: [message], sent_back: { reset_to } }) }
}
