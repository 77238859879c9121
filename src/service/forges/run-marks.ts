import { isOverKey, markKey, type RunMark, runMark } from '../../core/forges/run-mark.ts'
import type { Log } from '../../core/log.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import type { OnForge } from '../../forge/forges.ts'
import { noticingGap } from '../../forge/sync.ts'
import { type ClaimedMark, claimRunMarks } from '../../store/forges/run-marks.ts'
import { lastJudged } from '../../store/runs/journal.ts'
import { getRun } from '../../store/runs/runs.ts'
import type { Services } from '../context.ts'
import { drainOutbox, type Told } from './outbox-queue.ts'

/** Shows on forges how runs stand. Answers how much there was to say. */
export async function markRuns(services: Services, log: Log): Promise<number> {
  const { db } = services
  const claim = (limit: number, seconds: number) => claimRunMarks(db, limit, seconds)
  return drainOutbox(services, { name: 'run_marks', claim, tell: (mark, on) => tell(services, mark, on) }, log)
}

async function tell(services: Services, mark: ClaimedMark, on: OnForge): Promise<Told> {
  const over = mark.run_id === null
  const { said, turn } = await whatToSay(services, mark)
  if (said === null) return { said_as: mark.said_as, over }
  const said_as = markKey(said)
  const { organization_id, repository_id: id, head_sha } = mark
  if (said_as !== mark.said_as)
    await noticingGap(services.db, on, { organization_id, id }, 'run_status', () =>
      on.forge.markCommit(on.repository, head_sha, commitMark(services, mark, said, turn)),
    )
  return { said_as, over }
}

/** `said` null: nothing, because what was said of that commit is over. */
async function whatToSay({ db }: Services, mark: ClaimedMark): Promise<{ said: RunMark | null; turn: number | null }> {
  const run = mark.run_id === null ? undefined : await getRun(db, mark.organization_id, mark.run_id)
  const superseded = run !== undefined && mark.pushed && run.pushed_sha !== mark.head_sha
  if ((run === undefined || superseded) && isOverKey(mark.said_as)) return { said: null, turn: null }
  if (run === undefined) return { said: runMark(undefined), turn: null }
  const judged = run.status === 'completed' ? await lastJudged(db, mark.organization_id, run.id) : undefined
  const checks_given_up = judged?.head_sha === mark.head_sha ? judged.because : null
  return { said: runMark({ ...run, superseded, checks_given_up }), turn: run.turn }
}

/** What the commit shows now. Unknown where an earlier attempt may have been done without our hearing of it. */
function before({ tries, said, said_as }: ClaimedMark): { before?: string | null } {
  if (tries > 1 || (said > 0 && said_as === null)) return {}
  return { before: said_as }
}

const commitMark = ({ base_url }: Services, mark: ClaimedMark, said: RunMark, turn: number | null) => {
  const { number } = mark
  const url = traceUrl(base_url, number)
  const summary = `[Run ${number}](${url})${turn === null ? '' : `, turn ${turn}`}: ${said.title}.`
  return { ...said, external_id: String(number), url, summary, ...before(mark) }
}
