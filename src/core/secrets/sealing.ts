import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'

/** The context of a sealed value: in any other context it does not open. */
export type SealContext = { organization_id: number; scope: string; name: string }
/** A stored secret: `key_id` names the key that opens it. */
export type SealedValue = { key_id: string; sealed: Buffer }

export type Sealer = {
  readonly key_id: string
  seal(context: SealContext, value: string): SealedValue
  /**
   * Returns the value. Throws when it was sealed with an unknown key or for another context, or was altered.
   */
  open(context: SealContext, from: SealedValue): string
  /** The ids of all configured keys. */
  readonly key_ids: readonly string[]
  /**
   * Returns letters and digits for that context, deterministic, and indistinguishable from random without the
   * key.
   */
  derive(context: SealContext, length: number): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Creates a sealer: AES-256-GCM with a fresh nonce for each value. `sealed` is nonce, tag and ciphertext.
 * `previous`: keys that only open.
 */
export function createSealer(key: Buffer, previous: readonly Buffer[] = []): Sealer {
  const key_id = keyId(key)
  const keys = new Map([...previous, key].map(each => [keyId(each), each]))
  return {
    key_id,
    key_ids: [...keys.keys()],
    seal(context, value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(context))
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return { key_id, sealed: Buffer.concat([nonce, cipher.getAuthTag(), text]) }
    },
    open(context, { key_id: sealed_with, sealed }) {
      const its_key = keys.get(sealed_with)
      if (its_key === undefined)
        throw new Error(`sealed with the key ${sealed_with}, which is not ${[...keys.keys()].join(' or ')}`)
      const decipher = createDecipheriv('aes-256-gcm', its_key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
      decipher.setAAD(bound(context)).setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([
        decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ]).toString('utf8')
    },
    derive: (context, length) =>
      createHmac('sha512', key)
        .update('agentrun derived\0')
        .update(bound(context))
        .digest('base64')
        .replace(/[+/=]/g, '')
        .slice(0, length),
  }
}

const keyId = (key: Buffer) =>
  createHash('sha256').update('agentrun key id\0').update(key).digest('hex').slice(0, 16)

const bound = ({ organization_id, scope, name }: SealContext) =>
  Buffer.from(JSON.stringify([organization_id, scope, name]))

/** Parses 32 bytes from 64 hexadecimal digits or base64; null for anything else. */
export function readKey(text: string): Buffer | null {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null
}
