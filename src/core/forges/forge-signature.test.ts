import { expect, test } from 'vitest'
import { isSignedByForge } from './forge-signature.ts'

test('a signature covers the exact bytes, with the secret', () => {
  // The example in GitHub's own documentation.
  const secret = "It's a Secret to Everybody"
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  const body = Buffer.from('Hello, World!')
  expect(isSignedByForge(secret, body, signature, 'sha256=')).toBe(true)
  for (const wrong of [
    undefined,
    '',
    'sha256=',
    signature.slice(0, -1),
    signature.toUpperCase(),
    `${signature}0`,
  ])
    expect(isSignedByForge(secret, body, wrong, 'sha256=')).toBe(false)
  expect(isSignedByForge(secret, Buffer.from('Hello, World'), signature, 'sha256=')).toBe(false)
  expect(isSignedByForge('another', body, signature, 'sha256=')).toBe(false)
  // Gitea and Forgejo omit the prefix.
  expect(isSignedByForge(secret, body, signature.slice(7), '')).toBe(true)
  expect([
    isSignedByForge(secret, body, signature, ''),
    isSignedByForge(secret, body, signature.slice(7), 'sha256='),
  ]).toEqual([false, false])
})
