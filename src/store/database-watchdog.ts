import pg from 'pg'
import { respondedWithin } from '../core/timeout.ts'

const TICK_MS = 250
/** How long all statements may stay without a response before the server is pinged. */
const QUIET_MS = 500
const PING_TIMEOUT_MS = 1_000

/** The server is silent: it accepts requests and responds to none, on any connection. */
class SilentError extends Error {
  override name = 'SilentError'
  constructor() {
    super('Connection terminated: the database does not respond')
  }
}

/**
 * Distinguishes a slow statement from a silent server (frozen, or cut off without a message), which no socket
 * error reveals. While statements wait without any response, it pings on a connection of its own; without a
 * response to that, it rejects all of them at once and refuses new ones until the server responds again.
 */
export class DatabaseWatchdog implements Disposable {
  readonly #connection_string: string
  readonly #waiting = new Set<(error: Error) => void>()
  readonly #timer: NodeJS.Timeout
  #client: pg.Client | null = null
  #quiet_since = 0
  #pinging = false
  #silent = false
  #closed = false

  constructor(connection_string: string) {
    this.#connection_string = connection_string
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
    this.#timer.unref()
  }

  /** Throws SilentError while the server is silent. */
  requireResponsive(): void {
    if (this.#silent) throw new SilentError()
  }

  /** Returns the result of a statement, or rejects with SilentError as soon as the server is found silent. */
  watch<T>(run: () => Promise<T>): Promise<T> {
    if (this.#silent) return Promise.reject(new SilentError())
    if (this.#waiting.size === 0) this.#quiet_since = performance.now()
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject)
      const settled = () => {
        this.#waiting.delete(reject)
        this.#quiet_since = performance.now()
      }
      run().then(
        value => {
          settled()
          resolve(value)
        },
        error => {
          settled()
          reject(error)
        },
      )
    })
  }

  /**
   * Resolves if the server responds now, independent of the pool, so that a busy pool does not hide it.
   * Rejects within a second.
   */
  async ping(): Promise<void> {
    try {
      await respondedWithin(this.#query(), PING_TIMEOUT_MS, () => new SilentError())
    } catch (error) {
      this.#disconnect()
      throw error
    }
  }

  async #query(): Promise<void> {
    if (this.#client === null) {
      const client = new pg.Client({
        connectionString: this.#connection_string,
        connectionTimeoutMillis: PING_TIMEOUT_MS,
        application_name: 'agentrun-pulse',
      })
      this.#client = client
      client.on('error', () => this.#client === client && this.#disconnect())
      await client.connect()
    }
    await this.#client?.query('select 1')
  }

  #disconnect() {
    const client = this.#client
    this.#client = null
    client?.end().catch(() => {})
  }

  #tick() {
    if (this.#pinging || this.#closed) return
    if (!this.#silent && (this.#waiting.size === 0 || performance.now() - this.#quiet_since < QUIET_MS))
      return
    this.#pinging = true
    const since = this.#quiet_since
    this.ping()
      .then(
        () => this.#markResponsive(),
        (error: { severity?: string }) => {
          // A refusal is a response too.
          if (error.severity !== undefined) this.#markResponsive()
          else if (this.#silent || (this.#quiet_since === since && this.#waiting.size > 0)) this.#markSilent()
        },
      )
      .finally(() => {
        this.#pinging = false
      })
  }

  #markResponsive() {
    this.#silent = false
    this.#quiet_since = performance.now()
  }

  #markSilent() {
    this.#silent = true
    for (const reject of this.#waiting) reject(new SilentError())
    this.#waiting.clear()
  }

  [Symbol.dispose]() {
    this.#closed = true
    clearInterval(this.#timer)
    this.#disconnect()
  }
}
