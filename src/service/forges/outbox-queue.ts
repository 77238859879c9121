import type { Log } from '../../core/log.ts'
import { shortError } from '../../core/text/truncate.ts'
import type { OnForge } from '../../forge/forges.ts'
import { ForgeError } from '../../forge/port.ts'
import type { Queue } from '../../queue/consumer.ts'
import { getRepository } from '../../store/access/repositories.ts'
import type { Db } from '../../store/database.ts'
import {
  deleteOutboxItem,
  type OutboxItem,
  type OutboxTable,
  postponeOutboxItem,
  repostOutboxItem,
  settleOutboxItem,
} from '../../store/forges/outbox.ts'
import type { Services } from '../context.ts'
import { noteFailure } from './forge-health.ts'
import { nextForgeAttempt } from './forge-retries.ts'

const CONCURRENCY = 20
/** Longer than all requests to a forge for one item may take. */
const OUTBOX_LEASE_SECONDS = 180
/** A commit that was pushed a moment ago may not be known to all of a forge yet. */
const MAX_REFUSED_ATTEMPTS = 5

/** What the forge shows now. `over`: it never changes again. */
export type PostedItem = { posted: string | null; over: boolean }
type Outbox<Item extends OutboxItem> = {
  table: OutboxTable
  claim(db: Db, limit: number, lease_seconds: number): Promise<Item[]>
  /** Brings the forge up to date with the rows as they are now; repeated, it changes nothing. */
  post(services: Services, item: Item, on: OnForge): Promise<PostedItem>
}

/** Returns the queue of a table whose rows forges must show. */
export const outboxQueue = <Item extends OutboxItem>(
  services: Services,
  outbox: Outbox<Item>,
  log: Log,
): Queue<Item> => ({
  name: outbox.table,
  concurrency: CONCURRENCY,
  claim: limit => outbox.claim(services.db, limit, OUTBOX_LEASE_SECONDS),
  handle: item => postItem(services, outbox, item, log),
})

async function postItem<Item extends OutboxItem>(
  services: Services,
  { table, post }: Outbox<Item>,
  item: Item,
  log: Log,
): Promise<void> {
  const { db } = services
  const { organization_id, id } = item
  let on: OnForge | null = null
  try {
    const repository = await getRepository(db, organization_id, item.repository_id)
    on = repository ? await services.forges.of(repository) : null
    if (on === null) return await deleteOutboxItem(db, table, organization_id, id)
    const { posted, over } = await post(services, item, on)
    await settle(db, table, item, { posted, problem: null })
    if (over) await deleteOutboxItem(db, table, organization_id, id)
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    if (on) await noteFailure(services, { organization_id, id: on.connection_id }, error)
    const problem = shortError(error.message)
    const may_pass = error.retryable || error.code === 'auth'
    const seconds = nextForgeAttempt(error, item.tries, may_pass ? undefined : MAX_REFUSED_ATTEMPTS)
    // It is unknown what the forge shows now: the next change is posted in any case.
    if (seconds === null) return await settle(db, table, item, { posted: null, problem })
    await postponeOutboxItem(db, table, item, { seconds, problem })
    log('warn', 'a forge could not be updated', { queue: table, id, code: error.code, error: problem })
  }
}

/**
 * Where another process has claimed the item because this one was slow, it is unknown whose request the forge
 * received last.
 */
async function settle(
  db: Db,
  table: OutboxTable,
  item: OutboxItem,
  to: { posted: string | null; problem: string | null },
) {
  if (!(await settleOutboxItem(db, table, item, to)))
    await repostOutboxItem(db, table, item.organization_id, item.id)
}
