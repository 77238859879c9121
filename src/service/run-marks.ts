import { errorText, type Log } from '../core/log.ts'
import { isOverKey, markKey, type RunMark, runMark } from '../core/run-mark.ts'
import { traceUrl } from '../core/trace-url.ts'
import type { OnForge } from '../forge/forges.ts'
import { ForgeError } from '../forge/port.ts'
import { lastJudged } from '../store/journal.ts'
import { getRepository } from '../store/repositories.ts'
import { type ClaimedMark, claimRunMarks, deleteRunMark, postponeRunMark, repeatRunMark, settleRunMark } from '../store/run-marks.ts'
import { getRun } from '../store/runs.ts'
import type { Services } from './context.ts'
import { noteFailure } from './forge-health.ts'

const AT_ONCE = 20
/** Longer than everything that a mark asks of a forge may take. */
const LEASE_SECONDS = 180
const FIRST_WAIT_SECONDS = 2
const LONGEST_WAIT_SECONDS = 900
/** About a day. */
const MOST_TRIES = 100
/** A commit that was pushed a moment ago may not be known to all of a forge yet. */
const MOST_TRIES_REFUSED = 5

/** Shows on forges how runs stand, from what their rows say now, whichever process does it. Answers how much there was to say. */
export async function markRuns(services: Services, log: Log): Promise<number> {
  const claimed = await claimRunMarks(services.db, AT_ONCE, LEASE_SECONDS)
  await Promise.all(
    claimed.map(mark =>
      sayMark(services, mark, log).catch(error =>
        log('error', 'a forge could not be told of a run; it is tried again', { run_id: mark.number, error: errorText(error) }),
      ),
    ),
  )
  return claimed.length
}

async function sayMark(services: Services, mark: ClaimedMark, log: Log): Promise<void> {
  const { db } = services
  let on: OnForge | null = null
  try {
    const repository = await getRepository(db, mark.organization_id, mark.repository_id)
    on = repository ? await services.forges.of(repository) : null
    if (on === null) return await deleteRunMark(db, mark.organization_id, mark.id)
    const { said, turn } = await whatToSay(services, mark)
    const key = said === null ? mark.said_as : markKey(said)
    if (said !== null && key !== mark.said_as)
      await on.forge.markCommit(on.repository, mark.head_sha, commitMark(services, mark, said, turn))
    await settle(services, mark, key, null)
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    if (on) await noteFailure(services, { organization_id: mark.organization_id, id: on.connection_id }, error)
    const later = error.retryable || error.code === 'auth'
    // What stands there now nobody knows: whatever is said next is said in any case.
    if (mark.tries >= (later ? MOST_TRIES : MOST_TRIES_REFUSED)) return await settle(services, mark, null, error.message)
    const usual = Math.min(FIRST_WAIT_SECONDS * 2 ** Math.min(10, mark.tries - 1), LONGEST_WAIT_SECONDS) * (0.5 + Math.random() / 2)
    await postponeRunMark(db, mark, { seconds: Math.max(usual, error.retry_after_seconds ?? 0), problem: error.message })
    log('warn', 'a forge could not be told of a run', { run_id: mark.number, code: error.code, error: error.message })
  }
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

const commitMark = ({ base_url }: Services, { number }: ClaimedMark, said: RunMark, turn: number | null) => {
  const url = traceUrl(base_url, number)
  const summary = `[Run ${number}](${url})${turn === null ? '' : `, turn ${turn}`}: ${said.title}.`
  return { ...said, external_id: String(number), url, summary }
}

async function settle({ db }: Services, mark: ClaimedMark, said_as: string | null, problem: string | null): Promise<void> {
  // Somebody else took it because we were slow, and who of us was heard last nobody knows.
  if (!(await settleRunMark(db, mark, { said_as, problem }))) return repeatRunMark(db, mark.organization_id, mark.id)
  if (mark.run_id === null) await deleteRunMark(db, mark.organization_id, mark.id)
}
