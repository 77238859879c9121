import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'

type Encoding = 'br' | 'gzip'

/** Smaller responses fit into one packet, so compressing them gains nothing. */
const MIN_BYTES = 1_024
const compressible = /^(application\/([\w.+-]+\+)?json|text\/(html|plain))\b/
/**
 * These paths use cookies and passwords, so the length of a compressed response could reveal a secret in it
 * to a foreign page (BREACH).
 */
const never = /^\/(session|git|hooks)(\/|$|\?)/

/** The compressed forms of bytes that are sent repeatedly, for as long as those are kept. */
const compressed = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>()

/** Bytes that do not change while the process runs. */
const constant = new WeakSet<Buffer>()

/**
 * Marks bytes that are worth more time: after the first request they are compressed as much as possible, on a
 * separate thread.
 */
export function compressFurther(body: Buffer): Buffer {
  constant.add(body)
  return body
}

function compressOnce(body: Buffer, encoding: Encoding): Promise<Buffer> {
  const forms = compressed.get(body) ?? new Map<Encoding, Promise<Buffer>>()
  compressed.set(body, forms)
  const known = forms.get(encoding)
  if (known) return known
  const promise = compress(body, encoding)
  forms.set(encoding, promise)
  promise.catch(() => forms.delete(encoding))
  if (constant.has(body))
    compress(body, encoding, SMALLEST).then(
      smallest => forms.set(encoding, Promise.resolve(smallest)),
      () => {},
    )
  return promise
}

/** About a millisecond for 100 kB, on a separate thread. */
const FAST = { br: 4, gzip: 5 }
/** About 200 times as long. */
const SMALLEST = { br: 11, gzip: 9 }

function compress(body: Buffer, encoding: Encoding, levels = FAST): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const done = (error: Error | null, packed: Buffer) => (error ? reject(error) : resolve(packed))
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: levels.br,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  }
  if (encoding === 'br') brotliCompress(body, { params }, done)
  else gzip(body, { level: levels.gzip }, done)
  return promise
}

/**
 * Returns the encoding that the client prefers of those that it names; null: no encoding, or the path is
 * never compressed.
 */
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
 * Compresses JSON and text that are sent as one piece; event streams, git and stored compressed files are not
 * affected. `/v1` may be compressed: its tokens are in a header that a foreign page cannot make a browser
 * send, so BREACH does not apply.
 */
export function addCompression(app: FastifyInstance) {
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    if (
      reply.hasHeader('content-encoding') ||
      !compressible.test(String(reply.getHeader('content-type') ?? ''))
    )
      return payload
    const encoding = encodingFor(request)
    const body = typeof payload === 'string' ? Buffer.from(payload) : payload
    if (encoding === null || body.length < MIN_BYTES) return payload
    reply.removeHeader('content-length').header('content-encoding', encoding)
    return compressOnce(body, encoding)
  })
}
