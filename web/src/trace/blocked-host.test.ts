import { expect, test } from 'vitest'
import { EgressRule } from '../../../src/contract/organizations/egress.ts'
import { blockedHost, blockedLine } from './blocked-host.ts'

const request = { host: 'a.example', port: 8443, method: 'CONNECT' }

test('the rule that is offered is for the host and port that were refused, and for the method where that was why', () => {
  expect(blockedHost(request, { reason: 'not_allowed' })).toEqual({
    host: 'a.example',
    port: 8443,
    methods: null,
  })
  expect(blockedHost(request, { reason: 'off' })).toEqual({ host: 'a.example', port: 8443, methods: null })
  expect(blockedHost(request, { reason: 'method' })).toEqual({
    host: 'a.example',
    port: 8443,
    methods: ['CONNECT'],
  })
  expect(EgressRule.safeParse(blockedHost(request, { reason: 'not_allowed' })).success).toBe(true)
})

test.each(['private_address', 'malformed', 'sni', 'cap', 'again', undefined, 7])(
  'no rule is offered where none would help: %j',
  reason => {
    expect(blockedHost(request, { reason })).toBeNull()
  },
)

test.each([
  null,
  {},
  { ...request, host: '192.0.2.1' },
  { ...request, host: '2001:db8::1' },
  { host: 7, port: '443' },
  { host: 'a.example' },
])('and none for what names no host, or an address: %j', input => {
  expect(blockedHost(input, { reason: 'not_allowed' })).toBeNull()
})

test('a line shows what was refused, and how often it was refused again', () => {
  expect(blockedLine(request, { reason: 'not_allowed' })).toBe('CONNECT a.example:8443')
  expect(blockedLine({ host: null }, { reason: 'malformed' })).toBe('?')
  const hosts = [
    { host: 'a.example', port: 443, times: 3 },
    { host: null, times: 2 },
  ]
  expect(blockedLine({}, { reason: 'again', hosts, others: 4 })).toBe('a.example:443 ×3, ? ×2, 4 others')
})
