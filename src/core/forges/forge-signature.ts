import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Returns whether a signature is the HMAC-SHA256 of exactly these bytes, in hex after `prefix`. The
 * comparison takes constant time.
 */
export function isSignedByForge(
  secret: string,
  body: Uint8Array,
  signature: string | undefined,
  prefix: '' | 'sha256=',
): boolean {
  const wanted = Buffer.from(`${prefix}${createHmac('sha256', secret).update(body).digest('hex')}`)
  const received = Buffer.from(signature ?? '')
  return received.length === wanted.length && timingSafeEqual(received, wanted)
}
