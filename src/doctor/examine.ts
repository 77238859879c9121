import type { HealthCheck } from '../contract/organizations/organization-limits.ts'
import { broken } from '../core/health-checks.ts'
import type { Db } from '../store/database.ts'
import { causeText } from './cause-text.ts'
import { checkDatabase, checkProcesses, checkQueue } from './inside.ts'
import { checkOutside } from './outside.ts'

type Deployment = { db: Db; own_key_id: string | null; base_url: string; token: string | null }

/**
 * Examines a deployment of any number of processes, from the database outwards. What needs a broken part is
 * left out: its fix comes first.
 */
export async function* examineDeployment({
  db,
  own_key_id,
  base_url,
  token,
}: Deployment): AsyncGenerator<HealthCheck> {
  try {
    const checks = await checkDatabase(db)
    yield* checks
    if (checks.some(({ state }) => state === 'broken')) return
    yield* await checkProcesses(db, own_key_id)
    yield* await checkQueue(db)
  } catch (error) {
    yield broken(
      'database',
      `does not respond: ${causeText(error)}`,
      'check DATABASE_URL, the server and the network in between',
    )
    return
  }
  yield* await checkOutside(base_url, token)
}
