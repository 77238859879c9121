import type { Socket } from 'node:net'
import { onAbort } from '../core/abort.ts'
import { readHello } from './client-hello.ts'
import { DialError, dial } from './dial.ts'
import type { AllowedTarget, ProxyConfiguration } from './proxy-configuration.ts'

/** A TLS alert, so that the client reports an error: fatal, access denied. */
const access_denied = Buffer.from([21, 3, 1, 0, 2, 2, 49])

/** `signal` closes both ends. `counted` is called with each of them once they are joined. */
type TunnelInput = {
  configuration: ProxyConfiguration
  to: AllowedTarget
  signal: AbortSignal
  counted: (socket: Socket) => void
}

/**
 * Accepts CONNECT and joins both ends when the first bytes are a TLS greeting to the requested host: later
 * traffic cannot be inspected. The gateway of the sandbox serves plain HTTP and is no other host, so a tunnel
 * to it carries anything. Returns null when joined, or when nothing was sent; otherwise the problem, and the
 * socket is closed. Rejects with DialError, or with the reason of the signal, before a response began.
 */
export async function openTunnel(
  tunnelling: TunnelInput,
  inner: Socket,
  head: Buffer,
): Promise<string | null> {
  const { configuration, to, signal, counted } = tunnelling
  const outer = await dial(configuration, to, signal)
  if (inner.destroyed) {
    outer.destroy()
    throw new DialError('the connection was closed')
  }
  onAbort(signal, () => {
    inner.destroy()
    outer.destroy()
  })
  outer.on('close', () => inner.destroySoon())
  inner.on('close', () => outer.destroySoon())
  inner.write('HTTP/1.1 200 Connection established\r\n\r\n')
  if (to.way.kind === 'gateway') {
    inner.setTimeout(0)
    outer.write(head)
    inner.pipe(outer).pipe(inner)
    return null
  }
  const { bytes, problem } = await firstBytes(inner, head, to, configuration.caps.wait_ms)
  if (signal.aborted) return null
  if (problem !== null) {
    if (bytes.length > 0) inner.write(access_denied)
    inner.destroySoon()
    outer.destroy()
    return bytes.length > 0 ? problem : null
  }
  // Data read from one end is written to the other: while one of them is busy neither is idle.
  for (const socket of [inner, outer]) {
    socket.setTimeout(configuration.caps.idle_ms, () => socket.destroy())
    counted(socket)
  }
  outer.write(bytes)
  inner.pipe(outer).pipe(inner)
  return null
}

/** Returns what the client sent, up to a whole greeting to `to`, or what it was instead. */
async function firstBytes(
  inner: Socket,
  head: Buffer,
  to: AllowedTarget,
  wait_ms: number,
): Promise<{ bytes: Buffer; problem: string | null }> {
  const chunks = [head]
  let length = head.length
  let needs = 0
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const timer = setTimeout(() => resolve('no TLS greeting came'), wait_ms)
  const readHead = () => {
    if (length < needs) return
    const hello = readHello(Buffer.concat(chunks))
    if (hello.kind === 'incomplete') {
      needs = hello.needs
      return
    }
    if (hello.kind === 'other') return resolve('a tunnel carries TLS and nothing else')
    if (hello.hidden) return resolve('the greeting hides a name (ECH) behind the one that it shows')
    const wanted = to.address ? null : to.host
    resolve(
      hello.server_name === wanted
        ? null
        : `the greeting is to ${hello.server_name ?? 'no name'}, not to ${to.host}`,
    )
  }
  const onData = (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    readHead()
  }
  const onEnd = () => resolve('no TLS greeting came')
  inner.on('data', onData).once('end', onEnd).once('close', onEnd)
  readHead()
  const problem = await promise
  clearTimeout(timer)
  inner.pause()
  inner.off('data', onData).off('end', onEnd).off('close', onEnd)
  return { bytes: Buffer.concat(chunks), problem }
}
