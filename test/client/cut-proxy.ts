import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type CutProxy = AsyncDisposable & {
  base_url: string
  /** Connections that were opened through it so far. */
  readonly connections: number
  /** Breaks every connection that is open now. */
  cut(): void
}

/**
 * A plain TCP way to a service that breaks. `response_bytes`: how much of the service's response each
 * connection lets through before it breaks; null is all.
 */
export async function startCutProxy(
  base_url: string,
  response_bytes: () => number | null,
): Promise<CutProxy> {
  const target = new URL(base_url)
  const open = new Set<Socket>()
  let connections = 0
  const server = createServer(client => {
    connections++
    let left = response_bytes() ?? Number.POSITIVE_INFINITY
    const service = connect({ host: target.hostname, port: Number(target.port) })
    for (const socket of [client, service]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        service.destroy()
      })
    }
    client.on('data', bytes => service.write(bytes))
    service.on('data', bytes => {
      const passed = bytes.subarray(0, Math.max(0, left))
      left -= bytes.length
      client.write(passed, () => {
        if (left <= 0) client.destroy()
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const cut = () => {
    for (const socket of open) socket.destroy()
  }
  return {
    base_url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    get connections() {
      return connections
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
