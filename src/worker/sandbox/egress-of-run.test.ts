import { expect, test } from 'vitest'
import type { Mirror } from '../../core/network/package-mirrors.ts'
import { EVERY_HOST } from '../../egress/rules.ts'
import type { EgressRow } from '../../store/access/egress.ts'
import { egressOf } from './egress-of-run.ts'

const row = (
  repository_id: number | null,
  mode: EgressRow['mode'],
  allow: EgressRow['allow'] = [],
  presets: EgressRow['presets'] = [],
): EgressRow => ({ repository_id, mode, setup_mode: null, allow, presets })
const a = { host: 'a.example' }
const b = { host: 'b.example', port: 8443 }
const mirrors: Mirror[] = [{ kind: 'npm', url: new URL('https://npm.corp.example/') }]
const mirror = { host: 'npm.corp.example', port: 443, private_address: true }

test.each([
  ['nothing set', [], [], null],
  ['an organization without a mode', [row(null, null, [a])], [], null],
  ['an organization that is off', [row(null, 'off', [a])], mirrors, null],
  ['an organization that allows nothing yet', [row(null, 'allowlist')], [], []],
  ['the lists of both', [row(null, 'allowlist', [a]), row(7, null, [b])], [], [a, b]],
  ['the mode of the repository', [row(null, 'allowlist', [a]), row(7, 'off', [b])], mirrors, null],
  [
    'the mode of the repository, the other way',
    [row(null, 'off', [a]), row(7, 'allowlist', [b])],
    [],
    [a, b],
  ],
  ['mirrors of the operator, without other rules', [], mirrors, [mirror]],
  ['mirrors before what else is allowed', [row(null, null, [a])], mirrors, [mirror, a]],
])('what a run may reach: %s', (_, rows, mirrors, rules) => {
  expect(egressOf(rows, mirrors, 'agent')).toEqual(rules)
})

test('a preset expands to the hosts of its registry', () => {
  expect(egressOf([row(null, 'allowlist', [], ['pypi'])], [], 'agent')).toEqual([
    { host: 'pypi.org', port: 443 },
    { host: 'files.pythonhosted.org', port: 443 },
  ])
})

test.each([
  ['nothing set: everything', [], [EVERY_HOST]],
  [
    'the organization’s mode, its lists and those of the repository',
    [{ ...row(null, 'off', [a]), setup_mode: 'allowlist' }, row(7, null, [b])],
    [a, b],
  ],
  [
    'the mode of the repository',
    [
      { ...row(null, 'allowlist', [a]), setup_mode: 'open' },
      { ...row(7, null), setup_mode: 'off' },
    ],
    null,
  ],
] as const)('what setup commands may reach: %s', (_, rows, rules) => {
  expect(egressOf([...rows], [], 'setup')).toEqual(rules)
})
