import type { JournalRecord } from '../../agent/conversation.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import type { OutcomeFacts } from '../../core/runs/completion.ts'
import { mayHaveEffect, tools_without_effect } from '../../core/runs/file-tools.ts'
import { listFailedSetUp } from '../../store/runs/journal.ts'
import { findEntries } from '../../store/runs/log-entries.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { actionsBetween, statesSince, TO_THE_END } from '../../store/workspaces/checkpoints.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { latestEvaluation } from '../publish/latest-evaluation.ts'
import type { PublishResult } from '../publish/publication.ts'
import { isLastResponseMissing } from './acp/missing-response.ts'
import type { AgentTurn } from './begin-conversation.ts'
import { readJournal } from './recovered-conversation.ts'

/**
 * Reads what is known of a turn before its work is published. All of it is in the tables, whichever worker
 * ends the turn.
 */
export async function factsOfAgent(
  { writer, run }: AgentTurn,
  { answered }: { answered: boolean },
): Promise<OutcomeFacts> {
  const { db, organization_id, run_id } = writer
  if (run.source_type === 'TOOL') return { tool_status: await statusOfTool(writer, run) }
  const records = (await readJournal(writer)).filter(record => record.turn === run.turn)
  const last_response_missing = isLastResponseMissing(records)
  // An agent of another vendor that cannot work, because of its settings, often states so as its answer.
  const by_model = !last_response_missing && records.some(({ kind }) => kind === 'model_answered')
  return {
    had_effect: (answered && by_model) || hasActed(records),
    answered,
    last_response_missing,
    lost_actions: records.flatMap(record => (record.kind === 'message' ? (record.lost_actions ?? []) : [])),
    failed_setup: await listFailedSetUp(db, organization_id, run_id),
  }
}

/** Adds what is known after the publication. */
export async function factsOfPush(
  { writer, run }: AgentTurn,
  facts: OutcomeFacts,
  published: PublishResult,
): Promise<OutcomeFacts> {
  if (published.kind === 'refused') return { ...facts, had_effect: true, push_refusal: published.message }
  const adds_nothing = published.kind === 'nothing' || !published.is_new
  const uncommitted =
    adds_nothing && published.uncommitted.length > 0 && (await mayHaveChangedFiles(writer, run))
      ? published.uncommitted
      : []
  if (published.kind === 'nothing') return { ...facts, uncommitted }
  return {
    ...facts,
    uncommitted,
    had_effect: facts.had_effect === true || published.is_new,
    pull_request_refusal: published.refusal,
    failed_reviews: await failedReviews(writer, published.head),
  }
}

/** A tool that changes nothing, such as `read`, is not an effect without an answer. */
function hasActed(records: readonly JournalRecord[]): boolean {
  return records.some(
    record => record.kind === 'tool_started' && mayHaveEffect(record.call.name, record.call_kind),
  )
}

/**
 * Whether the files of the run have changed during this turn, or it is unknown: what git does not commit may
 * also be the work of setup commands or of an earlier turn.
 */
async function mayHaveChangedFiles(
  { db, organization_id, run_id }: RunWriter,
  { turn_started_at }: RunRow,
): Promise<boolean> {
  const known = await statesSince(db, [organization_id, run_id], turn_started_at)
  if (known?.trees !== 1) return true
  const since = { after: known.through_seq, through: TO_THE_END, tools_without_effect, limit: 1 }
  return (await actionsBetween(db, [organization_id, run_id], since)).length > 0
}

async function failedReviews(writer: RunWriter, head: string): Promise<string[]> {
  const commits = await latestEvaluation(writer, 'COMMIT_EVALUATION')
  const pull_request = await latestEvaluation(writer, 'PR_EVALUATION')
  const hasFailed = (evaluation: typeof commits) =>
    evaluation?.head_sha === head && evaluation.verdict === 'fail'
  return [
    ...(hasFailed(commits) ? [`problems in commit ${head.slice(0, 12)} remain`] : []),
    ...(hasFailed(pull_request) ? [`pull request ${pull_request?.pr_number} does not pass`] : []),
  ]
}

/** The status of the call that such a run consists of. */
async function statusOfTool(writer: RunWriter, { prompt }: RunRow): Promise<string> {
  const { tool_name } = storedJson<{ tool_name: string }>(prompt)
  const filter = { message_type: ['ACTION'], tool_name: [tool_name] }
  const newest = { skip: 0, limit: 1, reverse: true }
  const { rows } = await findEntries(writer.db, writer.organization_id, writer.run_id, filter, newest)
  return rows[0]
    ? storedJson<{ tool_output: { status: string } }>(rows[0].body).tool_output.status
    : 'missing'
}
