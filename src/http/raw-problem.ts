import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ProblemCode } from '../contract/error-codes.ts'
import { ServiceError } from '../core/service-error.ts'
import { problemOf } from './problem-response.ts'
import { edgeHeaders } from './security-headers.ts'

const codes: Record<string, { code: ProblemCode; words: string }> = {
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', words: 'The request did not arrive in time.' },
  HPE_HEADER_OVERFLOW: {
    code: 'header_too_large',
    words: 'The request line and headers are larger than 16 KiB.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { code: 'payload_too_large', words: 'The chunk extensions are too large.' },
}
const malformed: { code: ProblemCode; words: string } = {
  code: 'invalid_request',
  words: 'This is not an HTTP request that can be read.',
}

/**
 * Responds to what Node's parser refuses and closes the connection: there is no request and no route, but the
 * error has the same shape.
 */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex, base_url: string) {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy()
  const { code, words } = codes[error.code ?? ''] ?? malformed
  endWith(socket, new ServiceError(code, words), base_url)
}

/**
 * Responds in our error shape where Node would respond by itself: to CONNECT (dropped silently), and to an
 * `Expect` other than 100-continue.
 */
export function refuseOddities(server: Server, service: { readonly base_url: string }) {
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => {})
    endWith(
      socket,
      new ServiceError('method_not_allowed', 'CONNECT is not served here.', {
        headers: { allow: 'GET, POST, PATCH, DELETE' },
      }),
      service.base_url,
    )
  })
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const error = new ServiceError('expectation_failed', 'Only `Expect: 100-continue` is supported.')
    const { problem, headers, body } = responseOf(error, service.base_url)
    response.writeHead(problem.status, headers).end(body)
  })
}

function endWith(socket: Duplex, error: ServiceError, base_url: string) {
  const { problem, headers, body } = responseOf(error, base_url)
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${problem.title}\r\n${head.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}

function responseOf(error: ServiceError, base_url: string) {
  const id = randomUUID()
  const problem = problemOf(error, base_url, { id, url: undefined })
  const body = JSON.stringify(problem)
  const headers: Record<string, string> = {
    ...edgeHeaders(id),
    ...error.headers,
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  return { problem, headers, body }
}
