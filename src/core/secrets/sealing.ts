import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto'

/** To what a sealed value belongs: taken to another place, it does not open. */
export type SealPlace = { organization_id: number; scope: string; name: string }
/** What is stored of a secret: `key_id` says which key opens it. */
export type Sealed = { key_id: string; sealed: Buffer }

export type Sealer = {
  readonly key_id: string
  seal(place: SealPlace, value: string): Sealed
  /** The value again. Throws when it was sealed with a key that is not here, for another place, or was altered. */
  open(place: SealPlace, from: Sealed): string
  /** Of all keys that are here. */
  readonly key_ids: readonly string[]
  /** Letters and digits for that place, always the same, that nobody without the key can tell from random ones. */
  derive(place: SealPlace, length: number): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM with a fresh nonce for each value. `sealed` is nonce, tag and ciphertext. `previous`: keys that open, and seal no more. */
export function createSealer(key: Buffer, previous: readonly Buffer[] = []): Sealer {
  const key_id = keyId(key)
  const keys = new Map([...previous, key].map(each => [keyId(each), each]))
  return {
    key_id,
    key_ids: [...keys.keys()],
    seal(place, value) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(place))
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return { key_id, sealed: Buffer.concat([nonce, cipher.getAuthTag(), text]) }
    },
    open(place, { key_id: sealed_with, sealed }) {
      const its_key = keys.get(sealed_with)
      if (its_key === undefined) throw new Error(`sealed with the key ${sealed_with}, which is not ${[...keys.keys()].join(' or ')}`)
      const decipher = createDecipheriv('aes-256-gcm', its_key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(bound(place)).setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8')
    },
    derive: (place, length) =>
      createHmac('sha512', key).update('agentrun derived\0').update(bound(place)).digest('base64').replace(/[+/=]/g, '').slice(0, length),
  }
}

const keyId = (key: Buffer) => createHash('sha256').update('agentrun key id\0').update(key).digest('hex').slice(0, 16)

const bound = ({ organization_id, scope, name }: SealPlace) => Buffer.from(JSON.stringify([organization_id, scope, name]))

/** The 32 bytes that 64 hexadecimal digits or base64 stand for; null for anything else. */
export function readKey(text: string): Buffer | null {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null
}
