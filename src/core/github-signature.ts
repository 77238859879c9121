import { createHmac, timingSafeEqual } from 'node:crypto'

/** Whether `X-Hub-Signature-256` is that of these very bytes. Takes as long for a wrong one as for the right one. */
export function isSignedByGitHub(secret: string, body: Uint8Array, signature: string | undefined): boolean {
  const wanted = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(signature ?? '')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
