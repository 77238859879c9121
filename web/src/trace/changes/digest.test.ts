import { expect, test } from 'vitest'
import { digestOf } from './digest.ts'

test('the digest of a patch changes with any change of it', () => {
  expect(digestOf('+a\n')).toBe(digestOf('+a\n'))
  expect(digestOf('+a\n')).not.toBe(digestOf('+b\n'))
  expect(digestOf('')).not.toBe(digestOf(' '))
})
