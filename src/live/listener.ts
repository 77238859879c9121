import pg from 'pg'
import { settledWithin } from '../core/timeout.ts'
import { holdSession, SESSION_NAME } from '../store/leases/worker-sessions.ts'
import { channels } from '../store/notify.ts'

export type Hints = {
  /** A run may be claimed. */
  work(): void
  /** A delivery waits to be sent to a webhook. */
  webhook(): void
  /** A call was cancelled by its client. */
  cancelled(call: string): void
  /** A run, its entries or its organization's events have grown. */
  run(organization_id: number, run_id: number): void
  /** An ephemeral event: `json` is for its current readers. */
  live(organization_id: number, run_id: number, json: string): void
  /** Notifications may have been missed: everything must be checked. */
  everything(): void
}

const RETRY_DELAY_MS = 1_000
const BACKSTOP_INTERVAL_MS = 5_000
const RESPONSE_TIMEOUT_MS = 2_000
const CLOSE_TIMEOUT_MS = 1_000

/**
 * The process's one LISTEN connection. Notifications are hints: after a broken connection, and every few
 * seconds, `everything` is called, so that a lost notification delays work but never loses it. A connection
 * that fell silent is noticed then, and opened again.
 */
export class Listener implements AsyncDisposable {
  #client: pg.Client | null = null
  #closed = false
  #retry: NodeJS.Timeout | undefined
  readonly #backstop: NodeJS.Timeout
  readonly #connection_string: string
  readonly #hints: Hints
  readonly #owner: string | null

  /** @param owner of the runs of this process, if any: the connection also takes the owner's session lock. */
  constructor(connection_string: string, hints: Hints, owner: string | null) {
    this.#connection_string = connection_string
    this.#hints = hints
    this.#owner = owner
    this.#backstop = setInterval(() => {
      hints.everything()
      const client = this.#client
      client?.query('select 1').catch(() => this.#lost(client))
    }, BACKSTOP_INTERVAL_MS)
  }

  /** Resolves when listening. Reconnects by itself when the connection breaks later. */
  async start(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#connection_string,
      application_name: SESSION_NAME,
      keepAlive: true,
      connectionTimeoutMillis: RESPONSE_TIMEOUT_MS,
      query_timeout: RESPONSE_TIMEOUT_MS,
    })
    client.on('notification', message => this.#dispatch(message.channel, message.payload ?? ''))
    client.on('error', () => this.#lost(client))
    client.on('end', () => this.#lost(client))
    this.#client = client
    try {
      await client.connect()
      if (this.#owner !== null) await client.query(holdSession(this.#owner))
      await client.query(
        Object.values(channels)
          .map(name => `listen ${name}`)
          .join('; '),
      )
    } catch (error) {
      this.#lost(client)
      throw error
    }
    this.#hints.everything()
  }

  #dispatch(channel: string, payload: string) {
    if (channel === channels.work) return this.#hints.work()
    if (channel === channels.webhook) return this.#hints.webhook()
    if (channel === channels.cancelled) return this.#hints.cancelled(payload)
    const match = /^(\d+):(\d+)(?::([\s\S]*))?$/.exec(payload)
    if (!match) return
    const [organization_id, run_id] = [Number(match[1]), Number(match[2])]
    if (channel === channels.run) this.#hints.run(organization_id, run_id)
    else this.#hints.live(organization_id, run_id, match[3] ?? '')
  }

  /** A connection that broke reports it several times; only the first report schedules the next attempt. */
  #lost(broken: pg.Client) {
    if (this.#closed || this.#client !== broken) return
    this.#client = null
    void broken.end().catch(() => {})
    this.#retry = setTimeout(() => void this.start().catch(() => {}), RETRY_DELAY_MS)
  }

  async [Symbol.asyncDispose]() {
    this.#closed = true
    clearTimeout(this.#retry)
    clearInterval(this.#backstop)
    // A server that does not respond does not close its side either.
    const ended = this.#client?.end().catch(() => {})
    if (ended) await settledWithin(ended, CLOSE_TIMEOUT_MS)
  }
}
