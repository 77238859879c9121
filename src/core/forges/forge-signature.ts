import { createHmac, timingSafeEqual } from 'node:crypto'

/** Whether a signature is the HMAC-SHA256 of these very bytes, in hex after `prefix`. Takes as long for a wrong one as for the right one. */
export function isSignedByForge(secret: string, body: Uint8Array, signature: string | undefined, prefix: '' | 'sha256='): boolean {
  const wanted = Buffer.from(`${prefix}${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(signature ?? '')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
