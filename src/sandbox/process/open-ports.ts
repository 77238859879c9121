import type { ChildProcess } from 'node:child_process'
import { connect, Server, type Socket } from 'node:net'
import { SandboxLostError, type SandboxSocket } from '../port.ts'

/** Connections that a sandbox may have to one port; the kernel refuses further ones. */
const max_connections = 128

/**
 * Takes over the ports that `listenProgram` opens on the sandbox's own loopback, and connects them to the
 * sockets of the host. The listening socket belongs to the sandbox, but this process accepts the connections:
 * nothing inside can be killed for it or costs memory. They end with `child`. Rejects with SandboxLostError
 * when not all of them were opened in time.
 */
export function openPorts(child: ChildProcess, sockets: SandboxSocket[], timeout_ms: number): Promise<void> {
  const wanted = new Map(
    sockets.flatMap(({ host, port }) => (port === undefined ? [] : [[String(port), host] as const])),
  )
  if (wanted.size === 0) return Promise.resolve()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Callers may await it later, or never.
  promise.catch(() => {})
  const open: Server[] = []
  const fail = () => reject(new SandboxLostError('the ports of the sandbox could not be opened'))
  const timer = setTimeout(fail, timeout_ms)
  timer.unref()
  child.on('message', (port, server) => {
    const host = wanted.get(String(port))
    if (host === undefined || !(server instanceof Server)) return fail()
    wanted.delete(String(port))
    open.push(server)
    // A connection that was read to its end may still be written to.
    Object.assign(server, { allowHalfOpen: true, maxConnections: max_connections })
    server.on('connection', socket => join(socket, host))
    server.on('error', () => {})
    if (wanted.size > 0) return
    clearTimeout(timer)
    child.disconnect()
    resolve()
  })
  child.once('disconnect', fail)
  child.once('error', fail)
  child.once('exit', () => {
    fail()
    for (const server of open) server.close()
  })
  return promise
}

function join(inner: Socket, host: string): void {
  const outer = connect({ path: host, allowHalfOpen: true })
  inner.on('error', () => outer.destroy()).on('close', () => outer.destroySoon())
  outer.on('error', () => inner.destroy()).on('close', () => inner.destroySoon())
  // A response comes in pieces: without this, the kernel holds each small one back until the one before is
  // acknowledged, 40 ms later.
  inner.setNoDelay(true)
  inner.pipe(outer).pipe(inner)
}
