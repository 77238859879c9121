import { connect } from 'node:net'

/** One request of the campaign. `name`: its kind, in the report. */
export type Attempt = {
  name: string
  parts: (string | Buffer)[]
  /** The client disconnects when its bytes are sent, or when the first bytes of a response are there. */
  drops?: 'after_write' | 'after_head'
}
/** `unfinished`: the service kept the connection open until the client gave up. */
export type Outcome = { statuses: number[]; unfinished: boolean }

/** Longer than each limit of the service for one request. */
const PATIENCE_MS = 90_000

/**
 * Sends the bytes over a connection of their own. The statuses of all responses until either side closed it.
 */
export function sendBytes(base_url: string, { parts, drops }: Attempt): Promise<Outcome> {
  const { hostname, port } = new URL(base_url)
  const statuses: number[] = []
  let unfinished = false
  return new Promise(resolve => {
    const socket = connect({ host: hostname, port: Number(port) })
    const timer = setTimeout(() => {
      unfinished = true
      socket.destroy()
    }, PATIENCE_MS)
    socket.on('data', chunk => {
      for (const [, status] of chunk.toString('latin1').matchAll(/^HTTP\/1\.1 (\d{3}) /gm))
        statuses.push(Number(status))
      if (drops === 'after_head') socket.destroy()
    })
    // A service that refuses without reading closes the connection while the client sends.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      resolve({ statuses, unfinished })
    })
    socket.on('connect', () => {
      for (const [i, part] of parts.entries())
        socket.write(part, () => drops === 'after_write' && i === parts.length - 1 && socket.destroy())
    })
  })
}

/** The bytes of a request after which the service closes the connection. */
export function requestBytes(
  line: string,
  headers: Record<string, string | undefined>,
  body?: string | Uint8Array<ArrayBufferLike>,
): (string | Buffer)[] {
  const bytes = body === undefined ? null : Buffer.from(body as string)
  const all = {
    host: 'localhost',
    connection: 'close',
    ...(bytes && { 'content-length': `${bytes.length}` }),
    ...headers,
  }
  const fields = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  )
  const head = `${line} HTTP/1.1\r\n${fields.join('')}\r\n`
  return bytes === null ? [head] : [head, bytes]
}
