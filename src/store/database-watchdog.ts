import pg from 'pg'

const TICK_MS = 250
/** So long may every statement be without an answer before it is asked whether anybody is there. */
const QUIET_MS = 500
const PING_MS = 1_000

/** Nobody is there: the server takes what is sent and answers nothing, on any connection. */
export class SilentError extends Error {
  override name = 'SilentError'
  constructor() {
    super('Connection terminated: the database does not answer')
  }
}

/**
 * Tells a slow statement from a server that has fallen silent (frozen, or cut off without a word), which no error of a socket tells.
 * While statements wait and none is answered, a connection of its own asks; when that is not answered either, all of them are given up
 * at once, and new ones are refused until the server answers again.
 */
export class DatabaseWatchdog implements Disposable {
  readonly #connection_string: string
  readonly #waiting = new Set<(error: Error) => void>()
  readonly #timer: NodeJS.Timeout
  #client: pg.Client | null = null
  #quiet_since = 0
  #asking = false
  #silent = false
  #closed = false

  constructor(connection_string: string) {
    this.#connection_string = connection_string
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  /** Throws SilentError while nobody is there. */
  requireSound(): void {
    if (this.#silent) throw new SilentError()
  }

  /** A statement's answer, or SilentError as soon as the server is found silent. */
  watch<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#silent) return Promise.reject(new SilentError())
    if (this.#waiting.size === 0) this.#quiet_since = performance.now()
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      const answered = () => {
        this.#waiting.delete(reject)
        this.#quiet_since = performance.now()
      }
      ask().then(
        value => {
          answered()
          resolve(value)
        },
        error => {
          answered()
          reject(error)
        },
      )
    })
  }

  /** Whether the server answers at this moment, asked beside the pool, so that a pool without a free connection does not hide it. Rejects within a second. */
  async ping(): Promise<void> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => setImmediate(() => setImmediate(() => late.reject(new SilentError()))), PING_MS)
    try {
      await Promise.race([this.#ask(), late.promise])
    } catch (error) {
      this.#hangUp()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #ask(): Promise<void> {
    if (this.#client === null) {
      const client = new pg.Client({
        connectionString: this.#connection_string,
        connectionTimeoutMillis: PING_MS,
        application_name: 'agentrun-pulse',
      })
      this.#client = client
      client.on('error', () => this.#client === client && this.#hangUp())
      await client.connect()
    }
    await this.#client?.query('select 1')
  }

  #hangUp() {
    const client = this.#client
    this.#client = null
    client?.end().catch(() => {})
  }

  #tick() {
    if (this.#asking || this.#closed) return
    if (!this.#silent && (this.#waiting.size === 0 || performance.now() - this.#quiet_since < QUIET_MS)) return
    this.#asking = true
    const since = this.#quiet_since
    this.ping()
      .then(
        () => this.#heard(),
        (error: { severity?: string }) => {
          // Whoever refuses us has answered.
          if (error.severity !== undefined) this.#heard()
          else if (this.#silent || (this.#quiet_since === since && this.#waiting.size > 0)) this.#giveUp()
        },
      )
      .finally(() => {
        this.#asking = false
      })
  }

  #heard() {
    this.#silent = false
    this.#quiet_since = performance.now()
  }

  #giveUp() {
    this.#silent = true
    for (const reject of this.#waiting) reject(new SilentError())
    this.#waiting.clear()
  }

  [Symbol.dispose]() {
    this.#closed = true
    clearInterval(this.#timer)
    this.#hangUp()
  }
}
