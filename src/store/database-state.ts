import type { Db } from './database.ts'
import { only } from './database.ts'

type DatabaseState = {
  version: string
  version_number: number
  applied: string[]
  unfinished_indexes: string[]
}

/** Returns what the operator's checks need to know about the server and the schema. */
export async function databaseState(db: Db): Promise<DatabaseState> {
  const { rows } = await db.query<Omit<DatabaseState, 'applied'>>({
    text: `select current_setting('server_version') as version,
        current_setting('server_version_num')::int as version_number,
        array(
          select c.relname::text
          from pg_index i
          join pg_class c on c.oid = i.indexrelid
          where c.relnamespace = 'public'::regnamespace and not i.indisvalid
          order by 1
        ) as unfinished_indexes`,
  })
  const { rows: applied } = await db.query<{ name: string }>({
    text: 'select name from migrations order by name',
  })
  return { ...only(rows), applied: applied.map(({ name }) => name) }
}
