import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * A proxy to a database that can be interrupted: `down` breaks its connections, and new ones are refused
 * until `up`.
 */
export class DatabaseProxy implements AsyncDisposable {
  readonly #target: URL
  readonly #sockets = new Set<Socket>()
  #server: Server | null = null
  #port = 0
  #silent = false

  constructor(database_url: string) {
    this.#target = new URL(database_url)
  }

  get url(): string {
    const url = new URL(this.#target)
    url.search = ''
    url.hostname = '127.0.0.1'
    url.port = String(this.#port)
    return url.href
  }

  async up(): Promise<void> {
    this.#silent = false
    // Half open, because a server that does not respond does not close its side either.
    const server = createServer({ allowHalfOpen: true }, client => {
      if (this.#silent) return void this.#keep(client)
      const folder = this.#target.searchParams.get('host')
      const port = Number(this.#target.port || 5432)
      const target = folder ? { path: `${folder}/.s.PGSQL.${port}` } : { host: this.#target.hostname, port }
      const database = connect({ ...target, allowHalfOpen: true })
      for (const [from, to] of [
        [client, database],
        [database, client],
      ] as const) {
        this.#keep(from)
        from.on('data', bytes => this.#silent || to.write(bytes))
        from.on('end', () => this.#silent || to.end())
        from.on('close', () => to.destroy())
      }
    })
    await new Promise<void>(resolve => server.listen(this.#port, '127.0.0.1', resolve))
    const address = server.address()
    if (typeof address === 'object' && address) this.#port = address.port
    this.#server = server
  }

  /** The server is gone: open connections break, new ones are refused. */
  async down(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    const server = this.#server
    this.#server = null
    if (server) await new Promise(resolve => server.close(resolve))
  }

  /** The server stops responding, but closes nothing. */
  silence(): void {
    this.#silent = true
  }

  /** It responds again, on new connections: what was sent to it in between is lost. */
  speak(): void {
    this.#silent = false
  }

  #keep(socket: Socket) {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
  }

  async [Symbol.asyncDispose]() {
    await this.down()
  }
}
