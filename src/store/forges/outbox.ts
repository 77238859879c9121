import type { Db } from '../database.ts'

/** What forges are to be told, a row for a thing: `change` counts what may have changed of it, `said` up to where it is told. */
export type ForgeQueue = 'run_marks' | 'comment_mirrors'

export type OutboxItem = {
  organization_id: number
  id: number
  repository_id: number
  change: number
  /** What stands there; null: nobody knows. */
  said_as: string | null
  tries: number
  /** By this whoever has claimed it is told from others. */
  lease: string
}
export const to_tell_columns = 'organization_id, id, repository_id, change, said_as, tries, try_at::text as lease'

/** It is said, or never will be (`problem`). False: somebody else has claimed it since, so that nobody knows what stands there. */
export async function settleTold(
  db: Db,
  queue: ForgeQueue,
  { organization_id, id, change, lease }: Pick<OutboxItem, 'organization_id' | 'id' | 'change' | 'lease'>,
  to: { said_as: string | null; problem: string | null },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: `settle_${queue}`,
    text: `update ${queue} set said = $3, said_as = $5, problem = $6, tries = 0, try_at = now()
      where organization_id = $1 and id = $2 and try_at = $4::timestamptz`,
    values: [organization_id, id, change, lease, to.said_as, to.problem],
  })
  return rowCount === 1
}

/** It is tried again in `seconds`. */
export async function postponeTold(
  db: Db,
  queue: ForgeQueue,
  { organization_id, id, lease }: Pick<OutboxItem, 'organization_id' | 'id' | 'lease'>,
  to: { seconds: number; problem: string },
): Promise<void> {
  await db.query({
    name: `postpone_${queue}`,
    text: `update ${queue} set problem = $4, try_at = now() + make_interval(secs => $5)
      where organization_id = $1 and id = $2 and try_at = $3::timestamptz`,
    values: [organization_id, id, lease, to.problem, to.seconds],
  })
}

/** Whatever stands there, it is said once more. */
export async function tellAgain(db: Db, queue: ForgeQueue, organization_id: number, id: number): Promise<void> {
  await db.query({
    name: `tell_again_${queue}`,
    text: `update ${queue} set change = change + 1, said_as = null where organization_id = $1 and id = $2`,
    values: [organization_id, id],
  })
}

/** There is nothing to say of it any more. */
export async function forgetTold(db: Db, queue: ForgeQueue, organization_id: number, id: number): Promise<void> {
  await db.query({
    name: `forget_${queue}`,
    text: `delete from ${queue} where organization_id = $1 and id = $2`,
    values: [organization_id, id],
  })
}
