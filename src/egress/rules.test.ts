import { expect, test } from 'vitest'
import { EgressRule } from '../contract/organizations/egress.ts'
import { egress_presets } from '../contract/organizations/egress-presets.ts'
import { presets } from './presets.ts'
import { findRule, type Rule } from './rules.ts'

const rules: Rule[] = [
  { host: 'a.example' },
  { host: '*.b.example', port: 8443 },
  { host: 'read.example', methods: ['GET', 'HEAD'] },
  { host: 'read.example', port: 9000, methods: ['POST', 'CONNECT'] },
]
const response = (host: string, port: number, method: string) => {
  const found = findRule(rules, { host, port, method })
  return 'rule' in found ? 'allowed' : found.reason
}

test.each([
  ['a.example', 443, 'CONNECT', 'allowed'],
  ['a.example', 80, 'DELETE', 'allowed'],
  ['a.example', 8080, 'GET', 'not_allowed'],
  ['x.a.example', 443, 'CONNECT', 'not_allowed'],
  ['evil-a.example', 443, 'CONNECT', 'not_allowed'],
  ['x.b.example', 8443, 'CONNECT', 'allowed'],
  ['y.x.b.example', 8443, 'CONNECT', 'allowed'],
  ['b.example', 8443, 'CONNECT', 'not_allowed'],
  ['.b.example', 8443, 'CONNECT', 'not_allowed'],
  ['evilb.example', 8443, 'CONNECT', 'not_allowed'],
  ['x.b.example', 443, 'CONNECT', 'not_allowed'],
  ['read.example', 80, 'GET', 'allowed'],
  ['read.example', 80, 'POST', 'method'],
  ['read.example', 443, 'CONNECT', 'method'],
  ['read.example', 9000, 'CONNECT', 'allowed'],
  ['read.example', 9000, 'GET', 'method'],
])('%s:%i by %s is %s', (host, port, method, wanted) => {
  expect(response(host, port, method)).toBe(wanted)
})

test.each([
  ...[
    '*',
    '*.com',
    '*.co.uk',
    '*.cloudfront.net',
    '*.github.io',
    'a.*.com',
    '**.a.com',
    'A.example',
    'a.example.',
    '127.0.0.1',
    '[::1]',
  ],
  ...['a.example:443', 'https://a.example', 'a/b', 'a b', '', '.a.example', 'a..b', '2130706433', 'a.0x7f'],
])('a rule cannot be for %j', host => {
  expect(EgressRule.safeParse({ host }).success).toBe(false)
})

test('every preset is a list of valid rules, for hosts and not for all subdomains of one', () => {
  for (const name of egress_presets)
    for (const rule of presets[name]) {
      expect(EgressRule.safeParse(rule).success, rule.host).toBe(true)
      expect(rule.host).not.toContain('*')
    }
})
