import { type ForgeRepository, repositoryOn } from '../../core/forges/forge-address.ts'
import type { ForgeTask } from '../../core/forges/forge-event.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { ServiceError } from '../../core/service-error.ts'
import { shortError } from '../../core/text/truncate.ts'
import { ForgeError } from '../../forge/port.ts'
import type { Queue } from '../../queue/consumer.ts'
import { listRepositories, type RepositoryRow } from '../../store/access/repositories.ts'
import { type ClaimedTask, claimForgeTasks, settleForgeTask } from '../../store/forges/forge-deliveries.ts'
import { type ForgeRow, findForge } from '../../store/forges/forges.ts'
import { memberContext } from '../access/member-context.ts'
import type { Context, Services } from '../context.ts'
import { noteFailure } from './forge-health.ts'
import { nextForgeAttempt } from './forge-retries.ts'
import { type MentionSource, recordMentions } from './record-mentions.ts'
import { type AnswerTask, postAnswer } from './run-answer.ts'
import { handleRequest, maySucceedLater } from './run-from-mention.ts'
import { syncFromForge } from './sync-from-forge.ts'

const CONCURRENCY = 20
const TASK_LEASE_SECONDS = 120
/** What a delivery reports is visible at the forge after so long. */
const VISIBLE_SECONDS = 60
const VISIBLE_POLL_SECONDS = 5

/** Returns the queue of what forges report in deliveries. */
export const forgeTaskQueue = (services: Services): Queue<ClaimedTask> => ({
  name: 'forge_tasks',
  concurrency: CONCURRENCY,
  claim: limit => claimForgeTasks(services.db, limit, TASK_LEASE_SECONDS),
  handle: task => handleTask(services, task),
})

async function handleTask(services: Services, claimed: ClaimedTask): Promise<void> {
  const { db } = services
  const end = (outcome: string | null) =>
    settleForgeTask(db, claimed, { task: null, seconds: 0, outcome, run_id: null })
  const forge = await findForge(db, claimed.forge_id)
  if (!forge) return
  const task = storedJson<ForgeTask | AnswerTask>(claimed.task)
  try {
    const next = await attempt(services, forge, claimed, task)
    if (next === undefined) return
    if (typeof next === 'string') await end(next)
    else
      await settleForgeTask(db, claimed, {
        task: JSON.stringify(next.task),
        seconds: next.seconds,
        outcome: null,
        run_id: null,
      })
  } catch (error) {
    await noteFailure(services, forge, error)
    if (!(error instanceof ForgeError || error instanceof ServiceError)) throw error
    const may_pass = error instanceof ForgeError ? error.retryable : maySucceedLater(error)
    const seconds = may_pass ? nextForgeAttempt(error, claimed.tries) : null
    const outcome = shortError(error.message)
    if (seconds === null) await end(outcome)
    else
      await settleForgeTask(db, claimed, { task: claimed.task, seconds, outcome, run_id: null, failed: true })
  }
}

/**
 * Records the mention that a delivery reported without its text. The forge may show it a moment after the
 * delivery.
 */
async function findMention(
  services: Services,
  source: MentionSource,
  task: ForgeTask & { kind: 'asked' },
  age: number,
) {
  const reported = { by: task.by, at: new Date(Date.now() - age * 1_000) }
  const subject = await source.on.forge.getSubject(source.on.repository, task.number)
  const mentions = await recordMentions(services, source, subject, reported)
  const visible = mentions.some(
    ({ by, at }) => by === task.by && at.getTime() > reported.at.getTime() - VISIBLE_SECONDS * 1_000,
  )
  return visible || age > VISIBLE_SECONDS ? 'checked' : { task, seconds: VISIBLE_POLL_SECONDS }
}

/** A text is the final outcome; an object is the next task; undefined: the task is settled already. */
async function attempt(
  services: Services,
  forge: ForgeRow,
  claimed: ClaimedTask,
  task: ForgeTask | AnswerTask,
) {
  const ctx = await forgeContext(services, forge, claimed.delivery)
  if (ctx === null) return 'who connected the forge is no longer a member'
  const repository = await registeredRepository(services, forge, task.repository)
  const on = repository && (await services.forges.of(repository))
  if (!repository || !on) return 'the repository is not registered'
  if (task.kind === 'answer') return (await postAnswer(ctx, claimed, task, on)) ?? 'answered'
  if (task.kind === 'asked') return findMention(services, { forge, on, repository }, task, claimed.age)
  if (task.kind !== 'request') return syncFromForge(ctx, task, { on, repository })
  return (await handleRequest(ctx, claimed, task, { on, repository })) ?? undefined
}

/** More than any organization has registered. */
const MAX_REPOSITORIES = 10_000

/**
 * Returns the context of the member who connected the forge, in whose name its deliveries are handled. Null
 * if that is no longer a member.
 */
const forgeContext = (services: Services, forge: ForgeRow, request_id: string): Promise<Context | null> =>
  memberContext(services, { organization_id: forge.organization_id, user_id: forge.updated_by }, request_id)

/** Returns the registered repository of one on a forge; undefined: it is not registered. */
async function registeredRepository(
  { db }: Pick<Services, 'db'>,
  forge: ForgeRow,
  wanted: ForgeRepository,
): Promise<RepositoryRow | undefined> {
  const { rows } = await listRepositories(
    db,
    forge.organization_id,
    { skip: 0, limit: MAX_REPOSITORIES },
    { archived: false },
  )
  const nameOf = ({ owner, name }: ForgeRepository) => `${owner}/${name}`.toLowerCase()
  return rows.find(row => {
    const on_forge = repositoryOn(forge.url, row)
    return on_forge !== null && nameOf(on_forge) === nameOf(wanted)
  })
}
