import type { ForgeTask } from '../../core/forges/forge-event.ts'
import { errorText, type Log } from '../../core/log.ts'
import { ServiceError } from '../../core/service-error.ts'
import { ForgeError } from '../../forge/port.ts'
import { type ClaimedTask, claimForgeTasks, settleForgeTask } from '../../store/forges/forge-deliveries.ts'
import { type ForgeRow, findForge } from '../../store/forges/forges.ts'
import type { Services } from '../context.ts'
import { type AnswerTask, doAnswer } from './run-answer.ts'
import { forgeContext, registeredRepository } from './forge-context.ts'
import { noteFailure } from './forge-health.ts'
import { doRequest, maySucceedLater } from './forge-request.ts'
import { type AskedPlace, recordMentions } from './record-mentions.ts'
import { syncFromForge } from './sync-from-forge.ts'

const AT_ONCE = 20
const LEASE_SECONDS = 120
/** For so long what fails is tried again, ever less often. */
const GIVE_UP_SECONDS = 24 * 3_600
const FIRST_WAIT_SECONDS = 5
const LONGEST_WAIT_SECONDS = 900
/** Whatever was told of is to be seen after so long. */
const SHOWN_SECONDS = 60

/** Does what forges have told of and is due, each once, whichever process does it. Answers how much there was. */
export async function doForgeTasks(services: Services, log: Log): Promise<number> {
  const claimed = await claimForgeTasks(services.db, AT_ONCE, LEASE_SECONDS)
  await Promise.all(
    claimed.map(task =>
      doTask(services, task).catch(error =>
        log('error', 'what a forge told could not be done; it is tried again', { error: errorText(error) }),
      ),
    ),
  )
  return claimed.length
}

async function doTask(services: Services, claimed: ClaimedTask): Promise<void> {
  const end = (outcome: string | null) => settleForgeTask(services.db, claimed, { task: null, seconds: 0, outcome, run_id: null })
  const forge = await findForge(services.db, claimed.forge_id)
  if (!forge) return
  const task = JSON.parse(claimed.task) as ForgeTask | AnswerTask
  try {
    const next = await attempt(services, forge, claimed, task)
    if (typeof next === 'string') return await end(next)
    if (next === undefined) return
    await settleForgeTask(services.db, claimed, { task: JSON.stringify(next.task), seconds: next.seconds, outcome: null, run_id: null })
  } catch (error) {
    await noteFailure(services, forge, error)
    const known = error instanceof ForgeError || error instanceof ServiceError
    if (!known) throw error
    const later = error instanceof ForgeError ? error.retryable : maySucceedLater(error)
    if (!later || claimed.age > GIVE_UP_SECONDS) return await end(error.message)
    const asked = error instanceof ForgeError ? (error.retry_after_seconds ?? 0) : 0
    const usual = Math.min(FIRST_WAIT_SECONDS * 2 ** Math.min(10, claimed.tries - 1), LONGEST_WAIT_SECONDS) * (0.5 + Math.random() / 2)
    await settleForgeTask(services.db, claimed, {
      task: claimed.task,
      seconds: Math.max(asked, usual),
      outcome: error.message,
      run_id: null,
      failed: true,
    })
  }
}

/** What somebody told of, where it was asked. A forge may show it a moment after it told of it. */
async function findAsked(services: Services, place: AskedPlace, task: ForgeTask & { kind: 'asked' }, age: number) {
  const told = { by: task.by, at: new Date(Date.now() - age * 1_000) }
  const subject = await place.on.forge.getSubject(place.on.repository, task.number)
  const asked = await recordMentions(services, place, subject, told)
  const shown = asked.some(({ by, at }) => by === task.by && at.getTime() > told.at.getTime() - SHOWN_SECONDS * 1_000)
  return shown || age > SHOWN_SECONDS ? 'looked at' : { task, seconds: FIRST_WAIT_SECONDS }
}

/** A text says why it is over; what is to be done next otherwise; undefined: that is written down already. */
async function attempt(services: Services, forge: ForgeRow, claimed: ClaimedTask, task: ForgeTask | AnswerTask) {
  const ctx = await forgeContext(services, forge, claimed.delivery)
  if (ctx === null) return 'who connected the forge is no member any more'
  const repository = await registeredRepository(services, forge, task.repository)
  const on = repository && (await services.forges.of(repository))
  if (!repository || !on) return 'the repository is not registered'
  if (task.kind === 'answer') return (await doAnswer(ctx, claimed, task, on)) ?? 'answered'
  if (task.kind === 'asked') return findAsked(services, { forge, on, repository }, task, claimed.age)
  if (task.kind !== 'request') return syncFromForge(ctx, task, { on, repository })
  return (await doRequest(ctx, claimed, task, { on, repository })) ?? undefined
}
