import { expect, test } from 'vitest'
import { isWellFormed, newToken } from './token.ts'

test('a token carries a checksum: any altered character is detected before the database is queried', () => {
  const token = newToken('p')
  expect(token).toMatch(/^arun_p_[0-9A-Za-z]{38}$/)
  expect(isWellFormed(token)).toBe(true)
  for (let i = 7; i < token.length; i++) {
    const other = token[i] === 'x' ? 'y' : 'x'
    expect(isWellFormed(token.slice(0, i) + other + token.slice(i + 1))).toBe(false)
  }
})

test('tokens of other formats are checked by their digest only', () => {
  expect(isWellFormed('a-token-of-the-operator-0123456789')).toBe(true)
})
