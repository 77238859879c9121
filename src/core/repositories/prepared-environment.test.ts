import { expect, test } from 'vitest'
import { type PreparedFrom, preparedEnvironmentKey } from './prepared-environment.ts'

const parts: PreparedFrom = {
  commands: ['npm ci'],
  variables: { A: '1', B: '2' },
  secrets: 's',
  manifests: [
    ['package.json', 'a'.repeat(40)],
    ['package-lock.json', 'b'.repeat(40)],
  ],
  base_ref: 'main',
  toolchain: 't',
}

test('the same parts have one key in any order', () => {
  const turned = { ...parts, variables: { B: '2', A: '1' }, manifests: parts.manifests.toReversed() }
  expect(preparedEnvironmentKey(turned)).toBe(preparedEnvironmentKey(parts))
  expect(preparedEnvironmentKey(parts)).toMatch(/^[0-9a-f]{32}$/)
})

test('a change of any of them has another key', () => {
  const changed: Partial<PreparedFrom>[] = [
    { commands: ['npm ci', ''] },
    { commands: ['npm  ci'] },
    { variables: { A: '1' } },
    { secrets: 'r' },
    { manifests: [['package.json', 'a'.repeat(40)]] },
    {
      manifests: [
        ['package.json', 'a'.repeat(40)],
        ['package-lock.json', 'c'.repeat(40)],
      ],
    },
    { base_ref: 'other' },
    { toolchain: 'u' },
  ]
  const keys = [parts, ...changed.map(change => ({ ...parts, ...change }))].map(preparedEnvironmentKey)
  expect(new Set(keys).size).toBe(keys.length)
})
