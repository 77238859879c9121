import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSealer, readKey } from './sealing.ts'

const sealer = createSealer(randomBytes(32))
const context = { organization_id: 1, scope: 'organization', name: 'TOKEN' }

test('an encrypted text decrypts to the same text, regardless of its content', () => {
  for (const value of ['', 'x', 'a\nb\0c', '😀'.repeat(10_000)])
    expect(sealer.open(context, sealer.seal(context, value))).toBe(value)
})

test('the same value is never sealed to the same bytes, and none of it can be seen', () => {
  const [one, other] = [sealer.seal(context, 'hunter2-hunter2'), sealer.seal(context, 'hunter2-hunter2')]
  expect(one.sealed.equals(other.sealed)).toBe(false)
  expect(one.sealed.includes('hunter2')).toBe(false)
})

test('a value that is copied to another organization, scope or name does not decrypt', () => {
  const sealed = sealer.seal(context, 'x')
  const elsewhere = [{ organization_id: 2 }, { scope: 'repository:1' }, { name: 'TOKEN2' }]
  for (const change of elsewhere) expect(() => sealer.open({ ...context, ...change }, sealed)).toThrow()
  // Parts that read the same one after the other are not the same parts.
  const joined = sealer.seal({ organization_id: 1, scope: 'a', name: 'b","c' }, 'x')
  expect(() => sealer.open({ organization_id: 1, scope: 'a","b', name: 'c' }, joined)).toThrow()
})

test('a value that was altered, truncated or encrypted with another key is not decrypted, and the error reveals nothing', () => {
  const { key_id, sealed } = sealer.seal(context, 'secret')
  for (const at of [0, 12, 28, sealed.length - 1]) {
    const altered = Buffer.from(sealed)
    altered.writeUInt8(altered.readUInt8(at) ^ 1, at)
    expect(() => sealer.open(context, { key_id, sealed: altered })).toThrow()
  }
  for (const length of [0, 12, 20, 28, sealed.length - 1])
    expect(() => sealer.open(context, { key_id, sealed: sealed.subarray(0, length) })).toThrow()
  const other = createSealer(randomBytes(32))
  expect(other.key_id).not.toBe(key_id)
  expect(() => other.open(context, { key_id, sealed })).toThrow(/sealed with the key [0-9a-f]{16}/)
  expect(() => other.open(context, { key_id: other.key_id, sealed })).toThrow(
    expect.not.objectContaining({ message: /secret/ }),
  )
})

test('a key is 32 bytes, as hexadecimal digits or base64, and nothing else is one', () => {
  const key = randomBytes(32)
  for (const text of [
    key.toString('hex'),
    key.toString('hex').toUpperCase(),
    key.toString('base64'),
    key.toString('base64url'),
  ])
    expect(readKey(text)?.equals(key)).toBe(true)
  for (const text of [
    '',
    'x'.repeat(32),
    key.toString('hex').slice(1),
    `${key.toString('hex')}0`,
    randomBytes(31).toString('base64'),
    ' ',
  ])
    expect(readKey(text)).toBeNull()
})
