import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** To what a sealed value belongs: taken to another place, it does not open. */
export type SealPlace = { organization_id: number; scope: string; name: string }
/** What is stored of a secret: `key_id` says which key opens it. */
export type Sealed = { key_id: string; sealed: Buffer }

export type Sealer = {
  readonly key_id: string
  seal(place: SealPlace, value: string): Sealed
  /** The value again. Throws when it was sealed with another key, for another place, or was altered. */
  open(place: SealPlace, from: Sealed): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM with a fresh nonce for each value. `sealed` is nonce, tag and ciphertext. */
export function createSealer(key: Buffer): Sealer {
  const key_id = createHash('sha256').update('agentrun key id\0').update(key).digest('hex').slice(0, 16)
  return {
    key_id,
    seal(place, value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(place))
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return { key_id, sealed: Buffer.concat([nonce, cipher.getAuthTag(), text]) }
    },
    open(place, { key_id: sealed_with, sealed }) {
      if (sealed_with !== key_id) throw new Error(`sealed with the key ${sealed_with}, and ours is ${key_id}`)
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(bound(place)).setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
    },
  }
}

const bound = ({ organization_id, scope, name }: SealPlace) => Buffer.from(JSON.stringify([organization_id, scope, name]))

/** The 32 bytes that 64 hexadecimal digits or base64 stand for; null for anything else. */
export function readKey(text: string): Buffer | null {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null
}
