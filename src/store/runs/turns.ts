import type { Db } from '../database.ts'

/**
 * Whether it is up to the caller to do what `name` stands for: nobody has been told so for `seconds`. Of any number of processes that ask
 * at once one is. A time far ahead, as after the clock was set back, is no turn.
 */
export async function tryAcquireTick(db: Db, name: string, seconds: number): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'take_turn',
    text: `insert into turns (name, taken_at) values ($1, now())
      on conflict (name) do update set taken_at = now() where turns.taken_at not between now() - make_interval(secs => $2) and now() + interval '1 minute'`,
    values: [name, seconds],
  })
  return rowCount === 1
}
