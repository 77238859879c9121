import pg from 'pg'
import { respondedWithin, settledWithin } from '../core/timeout.ts'
import { DatabaseWatchdog } from './database-watchdog.ts'
import { storedValues } from './stored-values.ts'
import { breaksConnection, markRolledBack, retrySerialization } from './transaction-retry.ts'

/** `query_timeout`: milliseconds after which the client stops waiting for a response. */
export type Statement = pg.QueryConfig & { query_timeout?: number; binary?: boolean; rowMode?: 'array' }

/**
 * Part of a statement with long texts as its only columns. PostgreSQL takes half the time to send texts in
 * binary format, which are the same bytes, and in a list the driver passes each on as the string that it has
 * read.
 */
export const texts_only = {
  binary: true,
  rowMode: 'array',
  types: { getTypeParser: () => (text: string) => text },
} as const

/** Runs statements: the pool, or the client of an open transaction. */
export type Db = { query<R extends pg.QueryResultRow>(query: Statement): Promise<pg.QueryResult<R>> }

// Ids and counters are bigint columns well within 2^53, so they are parsed as numbers, as the wire has them.
const INT8_ARRAY = 1016
const parseTexts = pg.types.getTypeParser(INT8_ARRAY as Parameters<typeof pg.types.getTypeParser>[0]) as (
  text: string,
) => (string | null)[]
const parseNumbers = (text: string) => parseTexts(text).map(item => (item === null ? null : Number(item)))
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === pg.types.builtins.INT8) return Number
    return oid === INT8_ARRAY ? parseNumbers : pg.types.getTypeParser(oid, format)
  }) as typeof pg.types.getTypeParser,
}

class RolledBack extends Error {
  readonly value: unknown
  constructor(value: unknown) {
    super('the transaction is rolled back')
    this.value = value
  }
}

/** Rolls the open transaction back, which then resolves with `value`: one that it could also return. */
export function rollback(value: unknown): never {
  throw new RolledBack(value)
}

/** The database of a verb: every `transaction` commits completely or not at all. */
export type Transactional = Db & { transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> }

/**
 * Wraps an open transaction as a database: nested transactions become part of it, so none of them can be
 * rolled back alone.
 */
export const joined = (tx: Db): Transactional => ({
  query: query => tx.query(query),
  async transaction(work) {
    try {
      return await work(tx)
    } catch (error) {
      // The open transaction would end with this value, as if its own work had returned it.
      if (error instanceof RolledBack)
        throw new Error('a transaction that is part of another one cannot be rolled back')
      throw error
    }
  },
})

/**
 * The server cancels a late statement and reports it; the client stops waiting this much later, when the
 * server reports nothing.
 */
const GRACE_MS = 1_000
const undo: Statement = { text: 'rollback', query_timeout: GRACE_MS }
/** Timeout for a free or a new connection: including the rest of a request, 503 is sent within 2 s. */
const CONNECTION_TIMEOUT_MS = 1_500
/** Shorter than the statement timeout, so that the error names the lock. */
const LOCK_TIMEOUT_MS = 3_000
/** For the graceful end of all connections. */
const CLOSE_TIMEOUT_MS = 1_000

type DatabaseOptions = {
  max: number
  on_error: (error: Error) => void
  on_wait?: (ms: number) => void
  session?: Statement
  statement_ms?: number
  idle_ms?: number
}

export class Database implements AsyncDisposable {
  readonly pool: pg.Pool
  readonly connection_string: string
  readonly #response_ms: number
  readonly #watchdog: DatabaseWatchdog
  readonly #on_wait: ((ms: number) => void) | undefined
  #closing = false

  /**
   * @param on_error receives errors of idle connections that broke; the pool opens new ones by itself
   * @param on_wait receives how long each use of the database waited for its connection
   * @param session first statement of each new connection
   * @param statement_ms the server cancels a statement after this long, and the client rejects it a second
   *   later when the server does not
   * respond
   * @param idle_ms the server rolls back a transaction that was idle for this long
   */
  constructor(connection_string: string, options: DatabaseOptions) {
    const { statement_ms = 5_000, idle_ms = 10_000, session } = options
    this.connection_string = connection_string
    this.pool = new pg.Pool({
      connectionString: connection_string,
      max: options.max,
      types,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      statement_timeout: statement_ms,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: idle_ms,
      application_name: 'agentrun',
      ...(session && { onConnect: async client => void (await client.query(session)) }),
    })
    this.#response_ms = statement_ms + GRACE_MS
    this.#watchdog = new DatabaseWatchdog(connection_string)
    this.#on_wait = options.on_wait
    this.pool.on('error', error => {
      if (!this.#closing) options.on_error(error)
    })
  }

  query<R extends pg.QueryResultRow>(query: Statement): Promise<pg.QueryResult<R>> {
    return retrySerialization(() => this.#connected(client => client.query<R>(query)))
  }

  /**
   * Commits all of `work` or nothing. A transaction that the server rolled back (a deadlock, idleness) is
   * repeated, so `work` must do nothing but write.
   */
  async transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return retrySerialization(() =>
      this.#connected(async client => {
        let committing = false
        try {
          await client.query({ text: 'begin' })
          const result = await work(client)
          committing = true
          await client.query({ text: 'commit' })
          return result
        } catch (error) {
          if (!client.broken) await client.query(undo).catch(() => {})
          if (error instanceof RolledBack) return error.value as T
          throw committing ? error : markRolledBack(error)
        }
      }),
    )
  }

  /** Resolves if the database responds now, however busy the pool is. Rejects within a second. */
  async ping(): Promise<void> {
    await this.#watchdog.ping()
  }

  /**
   * Provides a connection of the pool to `work`. A broken connection, or one in an unknown state, is not
   * returned to the pool.
   */
  async #connected<T>(work: (db: Db & { broken: Error | null }) => Promise<T>): Promise<T> {
    const began = performance.now()
    const client = await this.#connection().catch(error => Promise.reject(markRolledBack(error)))
    this.#on_wait?.(performance.now() - began)
    const connection = {
      broken: null as Error | null,
      query: <R extends pg.QueryResultRow>({
        query_timeout = this.#response_ms,
        ...query
      }: Statement): Promise<pg.QueryResult<R>> => {
        if (connection.broken) return Promise.reject(connection.broken)
        const stored = query.values ? { ...query, values: storedValues(query.values) } : query
        return this.#watchdog
          .watch(() =>
            respondedWithin(client.query<R>(stored), query_timeout, () => new Error('Query read timeout')),
          )
          .catch(error => {
            if (breaksConnection(error)) connection.broken ??= error
            throw error
          })
      },
    }
    // A waiting statement is rejected by the error itself; between two statements of a transaction only this
    // listener notices it.
    const lost = (error: Error) => {
      connection.broken ??= error
    }
    client.on('error', lost)
    try {
      return await work(connection)
    } finally {
      client.off('error', lost)
      client.release(connection.broken ?? undefined)
    }
  }

  async #connection(): Promise<pg.PoolClient> {
    this.#watchdog.requireResponsive()
    return this.pool.connect()
  }

  async [Symbol.asyncDispose]() {
    // The pool resolves while its last connections still close: errors of a stopping server on those are
    // expected.
    this.#closing = true
    this.#watchdog[Symbol.dispose]()
    // A server that does not respond does not close its side of a connection either; the end of the process
    // closes ours.
    await settledWithin(this.pool.end(), CLOSE_TIMEOUT_MS)
  }
}

/** Returns the single row of a statement that always returns one. */
export function only<R>(rows: R[]): R {
  const row = rows[0]
  if (row === undefined) throw new Error('the statement returned no row')
  return row
}

type Row = pg.QueryResultRow

/** Returns the rows of a statement. */
export const allRows = async <R extends Row>(db: Db, query: Statement): Promise<R[]> =>
  (await db.query<R>(query)).rows

/** Returns the first row of a statement; undefined when it has none. */
export const firstRow = async <R extends Row>(db: Db, query: Statement): Promise<R | undefined> =>
  (await db.query<R>(query)).rows[0]

/** Returns the row of a statement that always returns one. */
export const onlyRow = async <R extends Row>(db: Db, query: Statement): Promise<R> =>
  only((await db.query<R>(query)).rows)

/** Returns whether a conditional statement changed its row. */
export const changedOne = async (db: Db, query: Statement): Promise<boolean> =>
  (await db.query(query)).rowCount === 1
