import { expect, test } from 'vitest'
import { addedVersions, advisoryOutcome, isTooYoung } from '../../scripts/supply-chain.ts'

test('a registry without advisories, and one that cannot be reached, are reported and do not fail', () => {
  expect(advisoryOutcome(JSON.stringify({ statusCode: 405, message: 'Method Not Allowed' }))).toEqual({
    state: 'skipped',
    text: 'advisories: not checked, the registry has no advisory endpoint (HTTP 405)',
  })
  expect(advisoryOutcome('')).toEqual({
    state: 'skipped',
    text: 'advisories: not checked, the registry cannot be reached',
  })
})

test('a high or critical advisory fails and is named, a lower one does not', () => {
  const report = (severity: string) =>
    JSON.stringify({
      vulnerabilities: { x: { name: 'x', severity } },
      metadata: { vulnerabilities: { [severity]: 1, total: 1 } },
    })
  expect(advisoryOutcome(report('critical'))).toMatchObject({
    state: 'failed',
    text: expect.stringContaining('critical: x;'),
  })
  expect(advisoryOutcome(report('low'))).toMatchObject({ state: 'ok' })
})

test('only versions that the base does not lock are checked, aliases by their own name', () => {
  const before = {
    packages: { '': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/@s/b': { version: '1.0.0' } },
  }
  const after = {
    packages: {
      ...before.packages,
      'node_modules/a': { version: '1.0.1' },
      'node_modules/c/node_modules/@s/b': { version: '2.0.0' },
      'node_modules/d': { name: 'e', version: '3.0.0' },
    },
  }
  expect(addedVersions(before, after)).toEqual([
    { name: 'a', version: '1.0.1' },
    { name: '@s/b', version: '2.0.0' },
    { name: 'e', version: '3.0.0' },
  ])
})

test('a version is too young for seven days, and unknown without its time', () => {
  const times = { '1.0.0': '2026-11-01T00:00:00Z' }
  expect(isTooYoung(times, '1.0.0', Date.parse('2026-11-07T00:00:00Z'))).toBe(true)
  expect(isTooYoung(times, '1.0.0', Date.parse('2026-11-08T00:00:00Z'))).toBe(false)
  expect(isTooYoung(times, '2.0.0', 0)).toBeNull()
  expect(isTooYoung(null, '1.0.0', 0)).toBeNull()
})
