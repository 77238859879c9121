import { expect, test } from 'vitest'
import { type ProvedSetup, provedSetupDigest } from './proved-setup.ts'

const one: ProvedSetup = {
  commands: ['a', 'b'],
  variables: { X: '1', Y: '2' },
  lockfiles: { 'a.lock': '1', 'b.lock': '2' },
  toolchain: { node: '24' },
}

test('a proved setup has one digest in every order of its names, and another for anything else', () => {
  expect(
    provedSetupDigest({ ...one, variables: { Y: '2', X: '1' }, lockfiles: { 'b.lock': '2', 'a.lock': '1' } }),
  ).toBe(provedSetupDigest(one))
  const others: ProvedSetup[] = [
    { ...one, commands: ['b', 'a'] },
    { ...one, variables: { X: '1' } },
    { ...one, lockfiles: { 'a.lock': '1', 'b.lock': '3' } },
    { ...one, base_sha: 'a' },
    { ...one, toolchain: { node: '25' } },
  ]
  expect(new Set([one, ...others].map(provedSetupDigest)).size).toBe(6)
  expect(provedSetupDigest(one)).toMatch(/^[0-9a-f]{64}$/)
})
