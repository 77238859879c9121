import type pg from 'pg'

export type Table = { name: string; columns: string[] }
type Sequence = { name: string; last_value: string }
/** `name` of the table, and the constraint as PostgreSQL writes it. */
export type ForeignKey = { table: string; name: string; definition: string }

/**
 * Tables that each database writes for itself: its migrations, its processes, and the times of periodic
 * tasks.
 */
const EXCLUDED_TABLES = ['migrations', 'workers', 'processes', 'ticks']

/**
 * Returns the tables of a backup: all that survive a crash, with the columns that are not computed. A
 * partitioned table is one table.
 */
export async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>({
    text: `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid
        and a.attnum > 0
        and not a.attisdropped
        and a.attgenerated = ''
      where c.relnamespace = 'public'::regnamespace
        and c.relkind in ('r', 'p')
        and not c.relispartition
        and c.relpersistence = 'p'
        and c.relname <> all ($1)
      group by c.relname
      order by c.relname`,
    values: [EXCLUDED_TABLES],
  })
  return rows
}

/** Returns the sequences that have been used. */
export async function listSequences(client: pg.Client): Promise<Sequence[]> {
  const { rows } = await client.query<Sequence>(
    `select sequencename as name, last_value::text
      from pg_sequences
      where schemaname = 'public' and last_value is not null
      order by 1`,
  )
  return rows
}

/** Returns the foreign keys of all tables, with the definitions that create them again after a restore. */
export async function listForeignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
      from pg_constraint
      where connamespace = 'public'::regnamespace and contype = 'f'
      order by 1, 2`,
  )
  return rows
}
