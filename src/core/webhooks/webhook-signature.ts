import { createHmac } from 'node:crypto'

const PREFIX = 'whsec_'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Returns the signing key: the base64 after `whsec_`, as in Standard Webhooks; any other text as it is. */
export function signingKey(secret: string): Buffer {
  const encoded = secret.slice(PREFIX.length)
  return secret.startsWith(PREFIX) && encoded !== '' && BASE64.test(encoded)
    ? Buffer.from(encoded, 'base64')
    : Buffer.from(secret, 'utf8')
}

/**
 * Returns the header `webhook-signature` of Standard Webhooks: one signature per secret. `timestamp` in whole
 * seconds.
 */
export function signatureHeader(
  secrets: readonly string[],
  id: string,
  timestamp: number,
  body: string,
): string {
  const signed = `${id}.${timestamp}.${body}`
  return secrets
    .map(secret => `v1,${createHmac('sha256', signingKey(secret)).update(signed, 'utf8').digest('base64')}`)
    .join(' ')
}
