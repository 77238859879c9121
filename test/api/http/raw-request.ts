import { connect } from 'node:net'
import type { App } from '../../start-app.ts'

export type RawResponse = { status: number; headers: Record<string, string>; body: string }

/** Sends raw bytes and returns everything that came back until the service closed the connection. */
export function sendRaw(app: App, request: string | Buffer | (string | Buffer)[]): Promise<RawResponse[]> {
  const { hostname, port } = new URL(app.base_url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) })
    const chunks: Buffer[] = []
    socket.on('data', chunk => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      try {
        resolve(parseResponses(Buffer.concat(chunks)))
      } catch (error) {
        reject(error)
      }
    })
    socket.on('connect', () => {
      for (const part of Array.isArray(request) ? request : [request]) socket.write(part)
    })
  })
}

function parseResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = []
  for (let rest = bytes; rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0)
      throw new Error(`no end of headers: ${JSON.stringify(rest.toString('latin1').slice(0, 200))}`)
    const [line = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
    const headers = Object.fromEntries(
      lines.map(item => [
        item.slice(0, item.indexOf(':')).toLowerCase(),
        item.slice(item.indexOf(':') + 1).trim(),
      ]),
    )
    const length = Number(headers['content-length'] ?? 0)
    if (status !== 100)
      responses.push({ status, headers, body: rest.subarray(end + 4, end + 4 + length).toString('utf8') })
    rest = rest.subarray(end + 4 + length)
  }
  return responses
}
