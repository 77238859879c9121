import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Network = AsyncDisposable & {
  /** The service, seen through this network. */
  base_url: string
  /** Breaks every connection and refuses new ones. */
  cut(): void
  restore(): void
}

/** A network between a browser and the service that can be cut, byte for byte what the service sends. */
export async function networkTo(service_url: string): Promise<Network> {
  const target = new URL(service_url)
  const sockets = new Set<Socket>()
  let broken = false
  const server = createServer(near => {
    if (broken) return near.destroy()
    const far = connect(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    broken = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    restore: () => {
      broken = false
    },
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
