import pg from 'pg'
import { DatabaseWatchdog } from './database-watchdog.ts'
import { breaksConnection, markUndone, retrySerialization } from './transaction-retry.ts'

/** `query_timeout`: milliseconds after which no answer is waited for any more. */
export type Statement = pg.QueryConfig & { query_timeout?: number }

/** Whatever runs a statement: the pool, or the client of an open transaction. */
export type Db = { query<R extends pg.QueryResultRow>(query: Statement): Promise<pg.QueryResult<R>> }

// Ids and counters are bigint columns well within 2^53: as numbers they are what the wire wants.
const INT8_ARRAY = 1016
const parseTexts = pg.types.getTypeParser(INT8_ARRAY as Parameters<typeof pg.types.getTypeParser>[0]) as (text: string) => (string | null)[]
const parseNumbers = (text: string) => parseTexts(text).map(item => (item === null ? null : Number(item)))
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === pg.types.builtins.INT8) return Number
    return oid === INT8_ARRAY ? parseNumbers : pg.types.getTypeParser(oid, format)
  }) as typeof pg.types.getTypeParser,
}

/** Where a verb does its work: every `transaction` is all or nothing. */
export type Transactional = Db & { transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> }

/** An open transaction in the place of the pool: what a verb does in transactions of its own becomes part of it. */
export const joined = (tx: Db): Transactional => ({ query: query => tx.query(query), transaction: work => work(tx) })

/** A server that gives a statement up says so; so much later we do, when it says nothing. */
const GRACE_MS = 1_000
const rollback: Statement = { text: 'rollback', query_timeout: GRACE_MS }
/** Waiting for a free or a new connection: with what comes before and after, 503 is said within 2 s. */
const CONNECTION_MS = 1_500
/** Less than a statement may take, so that it is the lock that is named. */
const LOCK_MS = 3_000

export class Database implements AsyncDisposable {
  readonly pool: pg.Pool
  readonly connection_string: string
  readonly #watchdog: DatabaseWatchdog
  readonly #on_wait: ((ms: number) => void) | undefined
  #closing = false

  /**
   * @param on_error told of idle connections that broke; the pool opens new ones by itself.
   * @param on_wait told how long each use of the database waited for its connection
   * @param statement_ms the server gives a statement up after this long, and we do a second later, when no server answers at all.
   * @param idle_ms the server undoes a transaction in which nothing was asked for this long
   */
  constructor(
    connection_string: string,
    options: { max: number; on_error: (error: Error) => void; on_wait?: (ms: number) => void; statement_ms?: number; idle_ms?: number },
  ) {
    const { statement_ms = 5_000, idle_ms = 10_000 } = options
    this.connection_string = connection_string
    this.pool = new pg.Pool({
      connectionString: connection_string,
      max: options.max,
      types,
      connectionTimeoutMillis: CONNECTION_MS,
      statement_timeout: statement_ms,
      lock_timeout: LOCK_MS,
      query_timeout: statement_ms + GRACE_MS,
      idle_in_transaction_session_timeout: idle_ms,
      application_name: 'agentrun',
    })
    this.#watchdog = new DatabaseWatchdog(connection_string)
    this.#on_wait = options.on_wait
    this.pool.on('error', error => {
      if (!this.#closing) options.on_error(error)
    })
  }

  query<R extends pg.QueryResultRow>(query: Statement): Promise<pg.QueryResult<R>> {
    return retrySerialization(() => this.#connected(client => client.query<R>(query)))
  }

  /** All of `work` or nothing of it. What the server undid (a deadlock, a pause in the middle) is done again, so `work` does nothing else than write. */
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
          if (!client.broken) await client.query(rollback).catch(() => {})
          throw committing ? error : markUndone(error)
        }
      }),
    )
  }

  /** Whether the database answers now, however busy the pool is. Rejects within a second. */
  async ping(): Promise<void> {
    await this.#watchdog.ping()
  }

  /** A connection of the pool for as long as `work` needs it. One that broke, or whose state nobody knows, does not go back. */
  async #connected<T>(work: (db: Db & { broken: Error | null }) => Promise<T>): Promise<T> {
    const began = performance.now()
    const client = await this.#connection().catch(error => Promise.reject(markUndone(error)))
    this.#on_wait?.(performance.now() - began)
    const connection = {
      broken: null as Error | null,
      query: <R extends pg.QueryResultRow>(query: Statement): Promise<pg.QueryResult<R>> => {
        if (connection.broken) return Promise.reject(connection.broken)
        return this.#watchdog
          .watch(() => client.query<R>(query))
          .catch(error => {
            if (breaksConnection(error)) connection.broken ??= error
            throw error
          })
      },
    }
    // Whoever waits for a statement is told by it; between two statements of a transaction only this hears it.
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
    this.#watchdog.requireSound()
    return this.pool.connect()
  }

  async [Symbol.asyncDispose]() {
    // The pool calls itself ended while its last connections still close: what a server that stops says to those is no news.
    this.#closing = true
    this.#watchdog[Symbol.dispose]()
    await this.pool.end()
  }
}

/** The single row of a statement that always answers one. */
export function only<R>(rows: R[]): R {
  const row = rows[0]
  if (row === undefined) throw new Error('the statement answered no row')
  return row
}
