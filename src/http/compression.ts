import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'

type Encoding = 'br' | 'gzip'

/** Below this the headers of an encoding and the time for it gain nothing: it fits into one packet. */
const MIN_BYTES = 1_024
const compressible = /^(application\/([\w.+-]+\+)?json|text\/(html|plain))\b/
/** Cookies and passwords work here, so the length of a compressed response could tell a foreign page about a secret in it (BREACH). */
const never = /^\/(session|git|hooks)(\/|$|\?)/

/** Levels that take about a millisecond for 100 kB, on a thread of their own. */
function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const done = (error: Error | null, packed: Buffer) => (error ? reject(error) : resolve(packed))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length }
  if (encoding === 'br') brotliCompress(body, { params }, done)
  else gzip(body, { level: 5 }, done)
  return promise
}

/** The encoding that the client prefers of those that it names itself; null: none, or the path is never compressed. */
export function encodingFor(request: FastifyRequest): Encoding | null {
  if (never.test(request.url)) return null
  const weights = new Map(
    (request.headers['accept-encoding'] ?? '')
      .toLowerCase()
      .split(',')
      .map(item => {
        const [name = '', ...parameters] = item.split(';').map(part => part.trim())
        const weight = Number(parameters.find(parameter => parameter.startsWith('q='))?.slice(2) ?? 1)
        return [name, weight] as const
      }),
  )
  const weightOf = (name: Encoding) => weights.get(name) ?? 0
  const best: Encoding = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip'
  return weightOf(best) > 0 ? best : null
}

/**
 * Compresses JSON and text that are sent as one piece. Event streams, git and files that are stored compressed do not come by here. `/v1` may be
 * compressed: its tokens are in a header that no foreign page can make a browser send, so BREACH has nobody to guess for it.
 */
export function addCompression(app: FastifyInstance) {
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    if (reply.hasHeader('content-encoding') || !compressible.test(String(reply.getHeader('content-type') ?? ''))) return payload
    const encoding = encodingFor(request)
    const body = typeof payload === 'string' ? Buffer.from(payload) : payload
    if (encoding === null || body.length < MIN_BYTES) return payload
    reply.removeHeader('content-length').header('content-encoding', encoding)
    return compress(body, encoding)
  })
}
