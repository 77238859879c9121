import { expect, test } from 'vitest'
import type { Outgoing } from '../../src/egress/connect-checked.ts'
import { lookupHost } from '../../src/egress/lookup-host.ts'

const failure = (code: string) => Object.assign(new Error(`getaddrinfo ${code}`), { code })
const fails = (code: string) => () => Promise.reject(failure(code))
const resolvesTo =
  (...addresses: string[]) =>
  async () =>
    addresses
const upstream = new URL('http://proxy.example.org:3128')

test.each<[string, string, Partial<Outgoing>, string]>([
  ['has public addresses', 'https://git.example.org', { resolve: resolvesTo('93.184.215.14') }, 'found'],
  ['is an address', 'https://93.184.215.14', { resolve: fails('ENOTFOUND') }, 'found'],
  ['does not exist', 'https://git.example.org', { resolve: fails('ENOTFOUND') }, 'unknown'],
  ['has no address', 'https://git.example.org', { resolve: resolvesTo() }, 'unknown'],
  [
    'cannot be a host',
    `https://${'a'.repeat(64)}.example.org`,
    { resolve: resolvesTo('93.184.215.14') },
    'unknown',
  ],
  [
    'waits for a name server that fails',
    'https://git.example.org',
    { resolve: fails('EAI_AGAIN') },
    'unavailable',
  ],
  ['is refused by its name server', 'https://git.example.org', { resolve: fails('EAI_FAIL') }, 'unavailable'],
  [
    'waits for a name server that is silent',
    'https://git.example.org',
    { resolve: () => new Promise(() => {}) },
    'unavailable',
  ],
  [
    'has a private address',
    'https://git.example.org',
    { resolve: resolvesTo('93.184.215.14', '10.0.0.1') },
    'forbidden',
  ],
  [
    'has a private address that is allowed',
    'https://git.example.org',
    { resolve: resolvesTo('10.0.0.1'), allow_private: true },
    'found',
  ],
  [
    'is the metadata service',
    'https://git.example.org',
    { resolve: resolvesTo('169.254.169.254'), allow_private: true },
    'forbidden',
  ],
  [
    'is known to the upstream proxy alone',
    'https://git.example.org',
    { resolve: fails('ENOTFOUND'), upstream },
    'found',
  ],
  [
    'is private although there is a proxy',
    'https://git.example.org',
    { resolve: resolvesTo('10.0.0.1'), upstream },
    'forbidden',
  ],
])('a host that %s', async (_, url, outgoing, expected) => {
  const resolve = () => Promise.reject(new Error('not expected'))
  expect(await lookupHost({ resolve, allow_private: false, upstream: null, ...outgoing }, url, 20)).toBe(
    expected,
  )
})
