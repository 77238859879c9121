import pg from 'pg'

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

const GRACE_MS = 2_000
const rollback: Statement = { text: 'rollback', query_timeout: GRACE_MS }

export class Database implements AsyncDisposable {
  readonly pool: pg.Pool
  readonly connection_string: string
  #closing = false

  /**
   * @param on_error told of idle connections that broke; the pool opens new ones by itself.
   * @param statement_ms the server gives a statement up after this long, and we do two seconds later, when no server answers at all.
   */
  constructor(connection_string: string, options: { max: number; on_error: (error: Error) => void; statement_ms?: number }) {
    const { statement_ms = 10_000 } = options
    this.connection_string = connection_string
    this.pool = new pg.Pool({
      connectionString: connection_string,
      max: options.max,
      types,
      connectionTimeoutMillis: 2_000,
      statement_timeout: statement_ms,
      query_timeout: statement_ms + GRACE_MS,
      idle_in_transaction_session_timeout: 10_000,
      application_name: 'agentrun',
    })
    this.pool.on('error', error => {
      if (!this.#closing) options.on_error(error)
    })
  }

  query<R extends pg.QueryResultRow>(query: Statement): Promise<pg.QueryResult<R>> {
    return this.pool.query<R>(query)
  }

  /** All of `work` or nothing of it. */
  async transaction<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    const client = await this.pool.connect()
    let broken: Error | undefined
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query(rollback).catch((reason: Error) => {
        broken = reason
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  async [Symbol.asyncDispose]() {
    // The pool calls itself ended while its last connections still close: what a server that stops says to those is no news.
    this.#closing = true
    await this.pool.end()
  }
}

/** The single row of a statement that always answers one. */
export function only<R>(rows: R[]): R {
  const row = rows[0]
  if (row === undefined) throw new Error('the statement answered no row')
  return row
}
