import { connect, createServer, type Socket } from 'node:net'

/** The message of a client that contains `commit` and nothing else. */
const COMMIT = 'Q\0\0\0\x0bcommit\0'

/**
 * The instants of a transaction at which a process may die: its commit has not reached the server, or the
 * response has not reached the client.
 */
export type Instant = 'before commit' | 'after commit'

/**
 * A way to a database that knows when the transaction of a certain statement commits, and calls `strike` at
 * the armed instant of the next one, once: the requests and responses of the dead client are then dropped.
 */
export class CommitProxy implements AsyncDisposable {
  readonly #target: URL
  readonly #statement: string
  readonly #sockets = new Set<Socket>()
  #armed: { at: Instant; strike: () => void } | null = null
  #port = 0
  readonly #server = createServer(client => this.#join(client))

  /** @param statement the name of a prepared statement that the transaction runs */
  constructor(database_url: string, statement: string) {
    this.#target = new URL(database_url)
    this.#statement = statement
  }

  async listen(): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    const address = this.#server.address()
    if (typeof address === 'object' && address) this.#port = address.port
    const url = new URL(this.#target)
    url.search = ''
    url.hostname = '127.0.0.1'
    url.port = String(this.#port)
    return url.href
  }

  /** Resolves when it has struck. */
  arm(at: Instant, strike: () => void): Promise<void> {
    return new Promise(resolve => {
      this.#armed = {
        at,
        strike: () => {
          this.#armed = null
          strike()
          resolve()
        },
      }
    })
  }

  #join(client: Socket) {
    const folder = this.#target.searchParams.get('host')
    const port = Number(this.#target.port || 5432)
    const database = folder
      ? connect(`${folder}/.s.PGSQL.${port}`)
      : connect({ host: this.#target.hostname, port })
    let touched = false
    let committing = false
    let dead = false
    client.on('data', bytes => {
      if (dead) return
      const text = bytes.toString('latin1')
      touched ||= text.includes(this.#statement)
      committing = touched && text.includes(COMMIT)
      if (committing && this.#armed?.at === 'before commit') {
        dead = true
        this.#armed.strike()
      } else database.write(bytes)
    })
    database.on('data', bytes => {
      if (dead) return
      if (committing && this.#armed?.at === 'after commit' && bytes.includes('COMMIT')) {
        dead = true
        this.#armed.strike()
      } else client.write(bytes)
      if (committing) touched = committing = false
    })
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => {
        this.#sockets.delete(one)
        other.destroy()
      })
    }
  }

  async [Symbol.asyncDispose]() {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
