import { hash, randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `p` personal token, `s` a service user's, `b` the browser's 15-minute token. */
type TokenKind = 'p' | 's' | 'b'

/**
 * Returns a new token: `arun_` + kind + `_` + 32 base62 characters + 6 of checksum (specification.md#access).
 */
export function newToken(kind: TokenKind): string {
  const body = base62(randomBytes(64), 32)
  return `arun_${kind}_${body}${checksum(body)}`
}

/**
 * Returns whether a token with our prefix has a valid checksum; other tokens are only known by their digest.
 */
export function isWellFormed(token: string): boolean {
  if (!token.startsWith('arun_')) return true
  const match = /^arun_[a-z]_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(token)
  return match?.[1] !== undefined && checksum(match[1]) === match[2]
}

/**
 * Returns the public prefix of a generated token, by which its owner recognizes it. Empty for a token that
 * the user chose: all of it is secret.
 */
export const tokenPrefix = (token: string) => /^arun_[a-z]_/.exec(token)?.[0] ?? ''

/** Returns the SHA-256, the only form in which a token or a sign-in code is stored. */
export const digest = (secret: string) => hash('sha256', secret, 'buffer')

/** Returns a code for a sign-in link: 192 random bits. */
export const newSignInCode = () => randomBytes(24).toString('base64url')

function checksum(body: string): string {
  return base62(hash('sha256', `arun:${body}`, 'buffer'), 6)
}

/** Bytes of 248 and more are skipped because they would favour the first letters. */
function base62(bytes: Buffer, length: number): string {
  const letters = [...bytes].filter(byte => byte < 248).map(byte => alphabet[byte % 62])
  if (letters.length < length) throw new Error('not enough random bytes')
  return letters.slice(0, length).join('')
}
