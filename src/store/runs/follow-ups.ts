import { changedOne, type Db } from '../database.ts'
import { changeRun, type RunKey } from './change-run.ts'

/**
 * Requests a new turn for a run that is being stopped, to start after the stop. `wanted` false withdraws it
 * and returns whether there was one.
 */
export function requestResume(
  db: Db,
  organization_id: number,
  id: number,
  wanted: boolean,
): Promise<boolean> {
  return changedOne(db, {
    name: 'request_resume',
    text: `update runs
      set resume_requested_at = case when $3 then coalesce(resume_requested_at, now()) end, updated_at = now()
      where organization_id = $1
        and id = $2
        and status = 'cancelling'
        and ($3 or resume_requested_at is not null)`,
    values: [organization_id, id, wanted],
  })
}

/**
 * Starts the new turn of a run that was resumed after a stop. Call it in the transaction that moves the run
 * from `cancelling` to `cancelled`, so that no crash loses the follow-up.
 */
export async function beginFollowUp(tx: Db, run: RunKey, deadline_seconds: number): Promise<void> {
  const only = 'resume_requested'
  await changeRun(tx, run, { from: ['cancelled'], to: 'queued', because: 'new_turn', deadline_seconds, only })
}
