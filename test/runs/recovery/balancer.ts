import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

const POLL_INTERVAL_MS = 50

/**
 * A load balancer for several API processes: new connections go in turn to those whose `/readyz` responds
 * with 200.
 */
export class Balancer implements AsyncDisposable {
  readonly #backends = new Map<string, { ready: boolean; timer: NodeJS.Timeout }>()
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer(client => this.#forward(client))
  #turn = 0

  async start(): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  add(url: string) {
    const poll = async () => {
      try {
        const response = await fetch(`${url}/readyz`, { headers: { connection: 'close' } })
        await response.body?.cancel()
        backend.ready = response.status === 200
      } catch {
        backend.ready = false
      }
    }
    const backend = { ready: false, timer: setInterval(() => void poll(), POLL_INTERVAL_MS) }
    this.#backends.set(url, backend)
  }

  remove(url: string) {
    clearInterval(this.#backends.get(url)?.timer)
    this.#backends.delete(url)
  }

  isReady(url: string): boolean {
    return this.#backends.get(url)?.ready ?? false
  }

  #forward(client: Socket) {
    const ready = [...this.#backends].filter(([, backend]) => backend.ready).map(([url]) => url)
    const url = ready[this.#turn++ % Math.max(1, ready.length)]
    if (url === undefined) return void client.destroy()
    const { hostname, port } = new URL(url)
    const backend = connect({ host: hostname, port: Number(port) })
    for (const [from, to] of [
      [client, backend],
      [backend, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
    }
    client.pipe(backend)
    backend.pipe(client)
  }

  async [Symbol.asyncDispose]() {
    for (const url of [...this.#backends.keys()]) this.remove(url)
    for (const socket of this.#sockets) socket.destroy()
    await new Promise(resolve => this.#server.close(resolve))
  }
}
