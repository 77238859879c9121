import { errorText, type Log } from '../../core/log.ts'
import type { OnForge } from '../../forge/forges.ts'
import { ForgeError } from '../../forge/port.ts'
import { getRepository } from '../../store/access/repositories.ts'
import { type ForgeQueue, forgetTold, type OutboxItem, postponeTold, settleTold, tellAgain } from '../../store/forges/outbox.ts'
import type { Services } from '../context.ts'
import { noteFailure } from './forge-health.ts'

const AT_ONCE = 20
/** Longer than everything that is asked of a forge for one of them may take. */
const LEASE_SECONDS = 180
const FIRST_WAIT_SECONDS = 2
const LONGEST_WAIT_SECONDS = 900
/** About a day. */
const MOST_TRIES = 100
/** A commit that was pushed a moment ago may not be known to all of a forge yet. */
const MOST_TRIES_REFUSED = 5

/** `over`: nothing more will be said of it. */
export type Told = { said_as: string | null; over: boolean }
type Queue<T extends OutboxItem> = {
  name: ForgeQueue
  claim(limit: number, lease_seconds: number): Promise<T[]>
  /** Says it as the rows have it now, so that said again it is there once. */
  tell(item: T, on: OnForge): Promise<Told>
}

/** Tells forges what a queue has, whichever process does it, again until they take it. Answers how much there was to say. */
export async function drainOutbox<T extends OutboxItem>(services: Services, queue: Queue<T>, log: Log): Promise<number> {
  const claimed = await queue.claim(AT_ONCE, LEASE_SECONDS)
  await Promise.all(
    claimed.map(item =>
      tellOne(services, queue, item, log).catch(error =>
        log('error', 'a forge could not be told; it is tried again', { queue: queue.name, id: item.id, error: errorText(error) }),
      ),
    ),
  )
  return claimed.length
}

async function tellOne<T extends OutboxItem>(services: Services, queue: Queue<T>, item: T, log: Log): Promise<void> {
  const { db } = services
  const { organization_id, id } = item
  let on: OnForge | null = null
  try {
    const repository = await getRepository(db, organization_id, item.repository_id)
    on = repository ? await services.forges.of(repository) : null
    if (on === null) return await forgetTold(db, queue.name, organization_id, id)
    const { said_as, over } = await queue.tell(item, on)
    await settle(services, queue.name, item, { said_as, problem: null })
    if (over) await forgetTold(db, queue.name, organization_id, id)
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    if (on) await noteFailure(services, { organization_id, id: on.connection_id }, error)
    const later = error.retryable || error.code === 'auth'
    const problem = error.message
    // What stands there now nobody knows: whatever is said next is said in any case.
    if (item.tries >= (later ? MOST_TRIES : MOST_TRIES_REFUSED)) return await settle(services, queue.name, item, { said_as: null, problem })
    const usual = Math.min(FIRST_WAIT_SECONDS * 2 ** Math.min(10, item.tries - 1), LONGEST_WAIT_SECONDS) * (0.5 + Math.random() / 2)
    await postponeTold(db, queue.name, item, { seconds: Math.max(usual, error.retry_after_seconds ?? 0), problem })
    log('warn', 'a forge could not be told', { queue: queue.name, id, code: error.code, error: problem })
  }
}

/** Where somebody else took it because we were slow, nobody knows who of us was heard last. */
async function settle({ db }: Services, queue: ForgeQueue, item: OutboxItem, to: { said_as: string | null; problem: string | null }) {
  if (!(await settleTold(db, queue, item, to))) await tellAgain(db, queue, item.organization_id, item.id)
}
