import type { Statement } from './database.ts'
import type { Tables } from './tables.ts'

/** Returns the placeholder of a value, which becomes the next parameter of the statement. */
export type Bind = (value: unknown) => string
/** SQL whose text is always the same, because it binds all that varies. */
export type Sql = (bind: Bind) => string

type Table = keyof Tables
/** A text with JSON is a text: the caller serializes it. */
type Row<T extends Table> = { [C in keyof Tables[T]]: Tables[T][C] | Sql }

/** A prepared statement. `name` must be of this text only. */
export function statement(name: string, sql: Sql): Statement {
  const values: unknown[] = []
  const text = sql(value => `$${values.push(value)}`)
  return { name, text, values }
}

export const now: Sql = () => 'now()'

/** The names of the statements by their texts: as many as there are callers. */
const names = new Map<string, string>()

function prepared(verb: string, table: Table, sql: Sql): Statement {
  const built = statement('', sql)
  const name = names.get(built.text) ?? `${verb}_${table}_${names.size + 1}`
  names.set(built.text, name)
  return { ...built, name }
}

/** An undefined value would be stored as null, instead of the default of its column. */
function sqlOf(table: Table, row: object, bind: Bind): [column: string, sql: string][] {
  return Object.entries(row).map(([column, value]: [string, unknown]) => {
    if (value === undefined) throw new TypeError(`${table}.${column} has no value`)
    return [column, typeof value === 'function' ? (value as Sql)(bind) : bind(value)]
  })
}

type Insert = {
  /** Name of the new row in `end`. */
  as?: string
  /** The rest of a `select` with the values: they are inserted for each of its rows. */
  select?: Sql
  /** The row sets an id that the database would generate. */
  overriding?: boolean
  /** What follows: `on conflict …`, `returning …`. */
  end?: Sql | string
}

const textOf = (sql: Sql | string, bind: Bind) => (typeof sql === 'string' ? sql : sql(bind))

/** Returns SQL: an insert that is part of a statement. */
export function insertSql<T extends Table>(
  bind: Bind,
  table: T,
  row: Row<T>,
  { as, select, overriding = false, end = '' }: Insert = {},
): string {
  const columns = sqlOf(table, row, bind)
  const target = as === undefined ? table : `${table} as ${as}`
  const values = columns.map(([, sql]) => sql).join(', ')
  return [
    `insert into ${target} (${columns.map(([column]) => column).join(', ')})`,
    ...(overriding ? ['overriding system value'] : []),
    ...(select === undefined ? [`values (${values})`] : [`select ${values}`, select(bind)]),
    textOf(end, bind),
  ].join('\n')
}

/** Returns the statement that inserts a row. */
export const insertRow = <T extends Table>(table: T, row: Row<T>, more: Insert = {}): Statement =>
  prepared('insert', table, bind => insertSql(bind, table, row, more))

/** Returns SQL for `do update set`: these columns take the value of the row that could not be inserted. */
export const replacing = (...columns: string[]): string =>
  columns.map(column => `${column} = excluded.${column}`).join(', ')

type Update<T extends Table> = {
  /** These are equal. */
  where: { [C in keyof Tables[T]]?: NonNullable<Tables[T][C]> }
  /** Another condition. */
  and?: Sql | string
  set?: Partial<Row<T>>
  /** Undefined: the column keeps its value. */
  change?: { [C in keyof Tables[T]]?: Tables[T][C] | undefined }
  returning?: string
}

/** Returns the statement that updates rows. Its text does not depend on which columns change. */
export const updateRow = <T extends Table>(table: T, update: Update<T>): Statement =>
  prepared('update', table, bind => {
    const { where, and, set = {}, change = {}, returning } = update
    const equal = sqlOf(table, where, bind).map(([column, sql]) => `${column} = ${sql}`)
    const assigned = sqlOf(table, set, bind).map(([column, sql]) => `${column} = ${sql}`)
    const changed = Object.entries(change).map(
      ([column, value]: [string, unknown]) =>
        `${column} = case when ${bind(value !== undefined)} then ${bind(value ?? null)} else ${column} end`,
    )
    return [
      `update ${table}`,
      `set ${[...assigned, ...changed].join(', ')}`,
      `where ${[...equal, ...(and === undefined ? [] : [textOf(and, bind)])].join(' and ')}`,
      ...(returning === undefined ? [] : [`returning ${returning}`]),
    ].join('\n')
  })
