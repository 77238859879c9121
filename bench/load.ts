import { connect } from 'node:net'

/**
 * Requests per second of a server to which `connections` clients send one request after the other, over kept
 * connections. `url`: of each request, or what returns the next one. Every response must be 200.
 */
export async function throughput(
  url: string | (() => string),
  headers: Record<string, string>,
  options: { connections: number; seconds: number },
): Promise<number> {
  const { hostname, port, host } = new URL(typeof url === 'string' ? url : url())
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const requestFor = (text: string) => {
    const { pathname, search } = new URL(text)
    return Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`)
  }
  const same = typeof url === 'string' ? requestFor(url) : null
  const next = () => same ?? requestFor(typeof url === 'string' ? url : url())
  const end = performance.now() + options.seconds * 1000
  const started = performance.now()
  const counts = await Promise.all(
    Array.from({ length: options.connections }, () => sendRequests(hostname, Number(port), next, end)),
  )
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - started) / 1000)
}

const received = Buffer.allocUnsafeSlow(256 * 1024)

function sendRequests(host: string, port: number, next: () => Buffer, end: number): Promise<number> {
  return new Promise((resolve, reject) => {
    // One buffer for all responses: with a new one for each part the client, not the server, limits the rate.
    const socket = connect({ host, port, noDelay: true, onread: { buffer: received, callback: take } })
    let finished = 0
    /** Bytes of the response that are still to come; null before its head. */
    let left: number | null = null
    let head = Buffer.alloc(0)
    socket.on('connect', () => socket.write(next()))
    socket.on('error', reject)

    function take(length: number): true {
      const chunk = received.subarray(0, length)
      if (left === null) {
        const bytes = head.length === 0 ? chunk : Buffer.concat([head, chunk])
        const at = bytes.indexOf('\r\n\r\n')
        if (at < 0) {
          head = Buffer.from(bytes)
          return true
        }
        const text = bytes.toString('latin1', 0, at)
        if (!text.startsWith('HTTP/1.1 200')) {
          socket.destroy(new Error(text))
          return true
        }
        left = Number(/^content-length: (\d+)/im.exec(text)?.[1]) - (bytes.length - at - 4)
        head = Buffer.alloc(0)
      } else left -= length
      if (left > 0) return true
      left = null
      finished += 1
      if (performance.now() < end) socket.write(next())
      else {
        socket.destroy()
        resolve(finished)
      }
      return true
    }
  })
}
