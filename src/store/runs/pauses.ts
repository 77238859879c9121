import { END_SECONDS } from '../../core/runs/lease.ts'
import { changedOne, type Db } from '../database.ts'

/** How long a worker has to release a run that must pause, before the sweep takes it over. */
const RELEASE_SECONDS = 10

/** Requests the owner of a run to pause it, with user and time. Its lease is no longer renewed. */
export function requestPause(db: Db, organization_id: number, id: number, user_id: number): Promise<boolean> {
  return changedOne(db, {
    name: 'request_pause',
    text: `update runs
      set pause_requested_at = now(), pause_requested_by = $3,
        lease_until = least(now() + make_interval(secs => $4), deadline_at + make_interval(secs => $5)),
        updated_at = now()
      where organization_id = $1
        and id = $2
        and status in ('starting', 'running')
        and pause_requested_at is null`,
    values: [organization_id, id, user_id, RELEASE_SECONDS, END_SECONDS],
  })
}

/** Withdraws a pause. Returns false when none was requested. */
export function withdrawPause(db: Db, organization_id: number, id: number): Promise<boolean> {
  return changedOne(db, {
    name: 'withdraw_pause',
    text: `update runs
      set pause_requested_at = null, pause_requested_by = null
      where organization_id = $1
        and id = $2
        and status in ('queued', 'starting', 'running', 'waiting')
        and pause_requested_at is not null`,
    values: [organization_id, id],
  })
}
