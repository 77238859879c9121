import type { Statement } from './database.ts'
import type { Tables } from './tables.ts'

/** Returns the placeholder of a value, which becomes the next parameter of the statement. */
export type Bind = (value: unknown) => string
/** SQL whose text is always the same, because it binds all that varies. */
export type Sql = (bind: Bind) => string

type Table = keyof Tables
/** A text with JSON is a text: the caller serializes it. */
type Row<T extends Table> = { [C in keyof Tables[T]]: Tables[T][C] | Sql }
/** The properties that are not columns of the table: the compiler does not check those of a spread. */
type Unknown<T extends Table, R> = Exclude<keyof R, keyof Tables[T]>
/** And the columns whose value may be undefined, also if they have a default. */
type Unfit<T extends Table, R> =
  | Unknown<T, R>
  | { [C in keyof R]-?: undefined extends R[C] ? C : never }[keyof R]
/** Nothing is set: then its type is that of all columns. */
type UnfitSet<T extends Table, S> = [Partial<Row<T>>] extends [S] ? never : Unfit<T, S>
/** The properties that are absent sometimes: without them the statement would have another text. */
type Optional<R> = { [C in keyof R]-?: object extends Pick<R, C> ? C : never }[keyof R]
/** `Result`, unless there are columns that do not fit: the error of the compiler names them. */
type Unless<Columns, Result> = [Columns] extends [never] ? Result : { unfit: Columns }

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
export const insertSql = <T extends Table, R extends Row<T>>(
  bind: Bind,
  table: Unless<Unfit<T, R>, T>,
  row: R,
  more: Insert = {},
): string => insertText(bind, table as T, row, more)

function insertText(
  bind: Bind,
  table: Table,
  row: object,
  { as, select, overriding = false, end = '' }: Insert,
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
export const insertRow = <T extends Table, R extends Row<T>>(table: T, row: R, more: Insert = {}) =>
  prepared('insert', table, bind => insertText(bind, table, row, more)) as Unless<Unfit<T, R>, Statement>

/** Returns SQL for `do update set`: these columns take the value of the row that could not be inserted. */
export const replacing = (...columns: string[]): string =>
  columns.map(column => `${column} = excluded.${column}`).join(', ')

type Where<T extends Table> = { [C in keyof Tables[T]]?: NonNullable<Tables[T][C]> }
type Change<T extends Table> = { [C in keyof Tables[T]]?: Tables[T][C] | undefined }
type Update<W, S, C> = {
  /** These are equal. */
  where: W
  /** Another condition. */
  and?: Sql | string
  set?: S
  /** Undefined: the column keeps its value. */
  change?: C
  returning?: string
}

/** Returns the statement that updates rows. Its text does not depend on which columns change. */
export const updateRow = <
  T extends Table,
  W extends Where<T>,
  S extends Partial<Row<T>>,
  C extends Change<T> = object,
>(
  table: T,
  update: Update<W, S, C>,
) =>
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
  }) as Unless<Unfit<T, W> | UnfitSet<T, S> | Unknown<T, C> | Optional<C>, Statement>
