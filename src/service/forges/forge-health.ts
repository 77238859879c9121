import { errorText } from '../../core/log.ts'
import { shortError } from '../../core/text/truncate.ts'
import { ForgeError } from '../../forge/port.ts'
import { listFailingForges, recordForgeIdentity, recordForgeProblem } from '../../store/forges/forges.ts'
import { tryAcquireTick } from '../../store/runs/ticks.ts'
import type { Services } from '../context.ts'

const TICK_SECONDS = 295
const MAX_FORGES = 100

type Connection = { organization_id: number; id: number }

/** Records that the forge rejects our credentials, if that is the error. */
export async function noteFailure(
  { db }: Pick<Services, 'db'>,
  { organization_id, id }: Connection,
  error: unknown,
): Promise<void> {
  if (error instanceof ForgeError && error.code === 'auth')
    await recordForgeProblem(db, organization_id, id, shortError(error.message))
}

/** Returns the fields of a log line about a failed request. */
export const failureFields = (error: unknown): Record<string, unknown> =>
  error instanceof ForgeError
    ? { code: error.code, error: shortError(error.message) }
    : { error: errorText(error) }

/** Retries failing connections; one of all processes does it every five minutes. */
export async function retryFailingForges(services: Services): Promise<void> {
  const { db, forges } = services
  if (!(await tryAcquireTick(db, 'failing forges', TICK_SECONDS))) return
  for (const row of await listFailingForges(db, MAX_FORGES)) {
    try {
      await recordForgeIdentity(db, row.organization_id, row.id, await forges.open(row).identity())
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      await recordForgeProblem(db, row.organization_id, row.id, shortError(error.message))
    }
  }
}
