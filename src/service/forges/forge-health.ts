import { errorText } from '../../core/log.ts'
import { ForgeError } from '../../forge/port.ts'
import { listFailingForges, recordForgeIdentity, recordForgeProblem } from '../../store/forges/forges.ts'
import { tryAcquireTick } from '../../store/runs/ticks.ts'
import type { Services } from '../context.ts'

const TURN_SECONDS = 295
const MOST = 100

type Connection = { organization_id: number; id: number }

/** A forge that does not know our credentials any more is said to be so, wherever that was found out. */
export async function noteFailure({ db }: Pick<Services, 'db'>, { organization_id, id }: Connection, error: unknown): Promise<void> {
  if (error instanceof ForgeError && error.code === 'auth') await recordForgeProblem(db, organization_id, id, error.message)
}

/** What is logged of whatever stopped a look at a forge. */
export const failureFields = (error: unknown): Record<string, unknown> =>
  error instanceof ForgeError ? { code: error.code, error: error.message } : { error: errorText(error) }

/** Tries connections again that did not work; of all processes one does it every five minutes. */
export async function tryFailingForges(services: Services): Promise<void> {
  const { db, forges } = services
  if (!(await tryAcquireTick(db, 'failing forges', TURN_SECONDS))) return
  for (const row of await listFailingForges(db, MOST)) {
    try {
      await recordForgeIdentity(db, row.organization_id, row.id, await forges.open(row).identity())
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error
      await recordForgeProblem(db, row.organization_id, row.id, error.message)
    }
  }
}
