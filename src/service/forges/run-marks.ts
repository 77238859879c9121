import { isOverKey, markKey, type RunMark, runMark } from '../../core/forges/run-mark.ts'
import type { Log } from '../../core/log.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { OnForge } from '../../forge/forges.ts'
import { noticingGap } from '../../forge/sync.ts'
import type { Queue } from '../../queue/consumer.ts'
import { type ClaimedMark, claimRunMarks } from '../../store/forges/run-marks.ts'
import { findLatestEvaluation } from '../../store/runs/journal.ts'
import { getRun } from '../../store/runs/runs.ts'
import type { Services } from '../context.ts'
import { outboxQueue, type PostedItem } from './outbox-queue.ts'

/** Shows the status of runs on their commits at forges. Changes between two attempts are posted as one. */
export const runMarkQueue = (services: Services, log: Log): Queue<ClaimedMark> =>
  outboxQueue(services, { table: 'run_marks', claim: claimRunMarks, post: postMark }, log)

async function postMark(services: Services, claimed: ClaimedMark, on: OnForge): Promise<PostedItem> {
  const over = claimed.run_id === null
  const { mark, turn } = await currentMark(services, claimed)
  if (mark === null) return { posted: claimed.posted, over }
  const posted = markKey(mark)
  const { organization_id, repository_id: id, head_sha } = claimed
  if (posted !== claimed.posted)
    await noticingGap(services.db, on, { organization_id, id }, 'run_status', () =>
      on.forge.markCommit(on.repository, head_sha, commitMark(services, claimed, mark, turn)),
    )
  return { posted, over }
}

/** `mark` null: the last one of that commit is final. */
async function currentMark(
  { db }: Services,
  claimed: ClaimedMark,
): Promise<{ mark: RunMark | null; turn: number | null }> {
  const run = claimed.run_id === null ? undefined : await getRun(db, claimed.organization_id, claimed.run_id)
  const superseded = run !== undefined && claimed.pushed && run.pushed_sha !== claimed.head_sha
  if ((run === undefined || superseded) && isOverKey(claimed.posted)) return { mark: null, turn: null }
  if (run === undefined) return { mark: runMark(undefined), turn: null }
  const judged =
    run.status === 'completed' ? await findLatestEvaluation(db, claimed.organization_id, run.id) : undefined
  const checks_given_up = judged?.head_sha === claimed.head_sha ? judged.because : null
  return { mark: runMark({ ...run, superseded, checks_given_up }), turn: run.turn }
}

/** What the commit shows now. Unknown where an earlier attempt may have succeeded without a response. */
function before({ tries, posted_change, posted }: ClaimedMark): { before?: string | null } {
  if (tries > 1 || (posted_change > 0 && posted === null)) return {}
  return { before: posted }
}

const commitMark = ({ base_url }: Services, claimed: ClaimedMark, mark: RunMark, turn: number | null) => {
  const { number } = claimed
  const url = traceUrl(base_url, number)
  const summary = `[Run ${number}](${url})${turn === null ? '' : `, turn ${turn}`}: ${mark.title}.`
  return { ...mark, external_id: String(number), url, summary, ...before(claimed) }
}
