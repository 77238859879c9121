import type { QueryResultRow } from 'pg'
import { limits } from '../contract/limits.ts'
import type { Window } from '../core/paging.ts'
import { type Db, only } from './database.ts'

/** Beyond every list, and within an `int` together with the other numbers. */
const MAX_SKIP = 1_000_000_000
const MAX_ID = '9223372036854775807'

type List = {
  /** Of its prepared statements. Absent: the conditions vary, and each request is planned for its values. */
  name?: string
  columns: string
  from: string
  /** Where the keys and the conditions are, if `from` has more than they need. */
  keys_from?: string
  where: string
  /** The unique column that orders it, and the type that a key of a cursor has. */
  key: string
  type?: 'bigint' | 'text'
  order: 'asc' | 'desc'
  /** How many items after the page are counted; absent: `limits.page_count`. */
  count?: number
}

/**
 * Returns one page of a list and the number of its items. It reads no more than the page, `count` items after
 * it and, without a cursor, `skip` items before it: `total` is a lower bound of a longer list. One statement
 * finds the keys and counts, the second reads the rows.
 */
export async function listPage<R extends QueryResultRow>(
  db: Db,
  list: List,
  values: unknown[],
  window: Window,
): Promise<{ rows: R[]; total: number }> {
  const { name, key, type = 'bigint', order } = list
  const { limit, from } = window
  const skip = Math.min(window.skip, MAX_SKIP)
  const way = from === undefined ? 'first' : from.backward ? 'before' : 'after'
  const given = from === undefined ? [limit, skip] : [limit, from.key]
  const found = await db.query<{ keys: (number | string)[] | null; found: number }>({
    ...(name !== undefined && { name: `${name}_${way}` }),
    text: keysText(list, way, values.length),
    values: [...values, ...given],
  })
  const { keys, found: counted } = only(found.rows)
  const total =
    way === 'first' ? counted : way === 'after' ? skip + counted : skip + (keys?.length ?? 0) + counted
  if (keys === null || keys.length === 0) return { rows: [], total }
  const { rows } = await db.query<R>({
    ...(name !== undefined && { name }),
    text: `select ${list.columns}
      from ${list.from}
      where ${list.where} and ${key} = any($${values.length + 1}::${type}[])
      order by ${key} ${order}`,
    values: [...values, keys],
  })
  return { rows, total }
}

/** The last two values are the limit, and the number of items to skip or the key of the cursor. */
function keysText(list: List, way: 'first' | 'before' | 'after', used: number): string {
  const { from, keys_from = from, where, key, type = 'bigint', order, count = limits.page_count } = list
  const [limit, given] = [`$${used + 1}::int`, `$${used + 2}`]
  const [beyond, back] = order === 'asc' ? ['>', 'desc'] : ['<', 'asc']
  const keys = (condition: string, direction: string, most: string) =>
    `(select ${key} as key from ${keys_from} where ${where}${condition} order by ${key} ${direction} limit ${most})`
  const sorted = `array_agg(key order by key ${order})`
  const [most, at] = [`${limit} + ${count}`, `${given}::${type}`]
  if (way === 'first')
    return `select (${sorted})[${given}::int + 1 : ${given}::int + ${limit}] as keys, count(*) as found
      from ${keys('', order, `${most} + ${given}::int`)} hits`
  if (way === 'after')
    return `select (${sorted})[1 : ${limit}] as keys, count(*) as found
      from ${keys(` and ${key} ${beyond} ${at}`, order, most)} hits`
  const before = beyond === '>' ? '<' : '>'
  return `select (select ${sorted} from ${keys(` and ${key} ${before} ${at}`, back, limit)} page) as keys,
      (select count(*) from ${keys(` and ${key} ${beyond}= ${at}`, order, most)} rest) as found`
}

/**
 * Collects the conditions of a filter and their values, which begin with $1 of `first`. Those that are absent
 * do not narrow.
 */
export function conditionsOf(first: string, first_value: unknown) {
  const conditions = [first]
  const values = [first_value]
  /** Adds a value and returns its parameter. */
  const value = (one: unknown) => `$${values.push(one)}`
  const add = (sql: (parameter: string) => string, given: unknown) => {
    if (given !== undefined && given !== null) conditions.push(sql(value(given)))
  }
  /**
   * A single value is compared as such: only then an index that continues with the key of the list has its
   * order.
   */
  const oneOf = (column: string, type: 'bigint' | 'text', given: readonly unknown[] | null | undefined) =>
    given?.length === 1
      ? add(p => `${column} = ${p}::${type}`, given[0])
      : add(p => `${column} = any(${p}::${type}[])`, given)
  /** Adds a condition whose values were added by `value`. */
  const also = (sql: string) => conditions.push(sql)
  return { values, value, add, also, oneOf, where: () => conditions.join(' and ') }
}

/**
 * Ids rise with `created_at`, except by as much as transactions overlap and a clock was set back: less than
 * this.
 */
const OVERLAP = `interval '1 day'`

/**
 * SQL: rows of `table`, with $1 as their organization, that are later or earlier than a time as the API shows
 * it, to the millisecond: no row is after its own `created_at`. The ids around that time bound the list,
 * which is ordered by id and would otherwise be read from its end; the times themselves are in a function, so
 * that no index by time is chosen, whose rows would have to be sorted.
 */
export const createdAfter = (alias: string, table: string, p: string) =>
  `date_trunc('milliseconds', ${alias}.created_at) > ${p}::timestamptz
    and ${alias}.id > coalesce((select b.id from ${table} b where b.organization_id = $1 and b.created_at < ${p}::timestamptz - ${OVERLAP} order by b.created_at desc limit 1), 0)`
export const createdBefore = (alias: string, table: string, p: string) =>
  `date_trunc('milliseconds', ${alias}.created_at) < ${p}::timestamptz
    and ${alias}.id < coalesce((select b.id from ${table} b where b.organization_id = $1 and b.created_at > ${p}::timestamptz + ${OVERLAP} order by b.created_at limit 1), ${MAX_ID})`
