import { changedOne, type Db } from '../database.ts'

/**
 * Returns whether the caller must execute the periodic task `name` now: no process has done so for
 * `seconds`. Of several processes that call at the same time exactly one gets true. A time in the future, as
 * after the clock was set back, does not count.
 */
export function tryAcquireTick(db: Db, name: string, seconds: number): Promise<boolean> {
  return changedOne(db, {
    name: 'acquire_tick',
    text: `insert into ticks (name, taken_at)
      values ($1, now())
      on conflict (name) do update set taken_at = now()
      where ticks.taken_at not between now() - make_interval(secs => $2) and now() + interval '1 minute'`,
    values: [name, seconds],
  })
}
