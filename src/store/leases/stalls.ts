import type { Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'
import { is_stalled } from '../runs/run-states.ts'

/** A claim; `in_hand`: its process worked on the run when its event loop stalled. */
type StalledClaim = { organization_id: number; run_id: number; epoch: number; in_hand: boolean }

/**
 * Records which claims of a process were in hand when its event loop stalled. Returns the number of changed
 * claims: one that has ended stays.
 */
export async function recordStall(db: Db, claims: readonly StalledClaim[]): Promise<number> {
  const { rowCount } = await db.query({
    name: 'record_stall',
    text: `update runs
      set stalled_epoch = case when in_hand then epoch end
      from unnest(
        $1::bigint[], $2::bigint[], $3::int[], $4::boolean[]
      ) as c (of_organization, run_id, claimed_epoch, in_hand)
      where organization_id = of_organization
        and id = run_id
        and ${isHeldBy('claimed_epoch')}
        and in_hand <> (${is_stalled})`,
    values: [
      claims.map(({ organization_id }) => organization_id),
      claims.map(({ run_id }) => run_id),
      claims.map(({ epoch }) => epoch),
      claims.map(({ in_hand }) => in_hand),
    ],
  })
  return rowCount ?? 0
}

/**
 * Records that a process has crashed or was killed for want of memory, named by its id and its data folder:
 * each run that it had may be the cause. Returns their number.
 */
export async function recordCrash(db: Db, folder_id: string, pid: number): Promise<number> {
  const { rowCount } = await db.query({
    name: 'record_crash',
    text: `update runs
      set stalled_epoch = epoch
      where owner in (select w.owner from workers w where w.folder_id = $1 and w.pid = $2)`,
    values: [folder_id, pid],
  })
  return rowCount ?? 0
}
