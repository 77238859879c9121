import { expect, test } from 'vitest'
import { forgeOrigin, forgePlace } from './forge-address.ts'

test.each([
  ['https://github.com/acme/app.git', 'https', { host: 'github.com', origin: 'https://github.com', owner: 'acme', name: 'app' }],
  ['https://GitHub.com/acme/app', 'https', { host: 'github.com', origin: 'https://github.com', owner: 'acme', name: 'app' }],
  ['http://127.0.0.1:8080/acme/a.b', 'http', { host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080', owner: 'acme', name: 'a.b' }],
  ['git@github.com:acme/app.git', 'ssh', { host: 'github.com', origin: null, owner: 'acme', name: 'app' }],
  ['ssh://git@github.com:22/acme/app', 'ssh', { host: 'github.com', origin: null, owner: 'acme', name: 'app' }],
] as const)('%s names its repository', (url, kind, place) => {
  expect(forgePlace({ url, kind })).toEqual(place)
})

test.each([
  ['/srv/acme/app', 'local'],
  ['https://github.com/app', 'https'],
  ['https://github.com/group/sub/app', 'https'],
  ['https://github.com/acme/..', 'https'],
  ['https://github.com/acme/%2e%2e', 'https'],
  ['https://github.com/a%2Fb/c', 'https'],
] as const)('%s is no repository of a forge', (url, kind) => {
  expect(forgePlace({ url, kind })).toBeNull()
})

test('a forge is an origin: no path, no password, nothing private unless the operator allows it', () => {
  expect(forgeOrigin('https://GitHub.com', false)).toEqual({ ok: true, origin: 'https://github.com' })
  expect(forgeOrigin('http://127.0.0.1:81/', true)).toEqual({ ok: true, origin: 'http://127.0.0.1:81' })
  const refused = [
    'github.com',
    'https://a:b@github.com',
    'ssh://github.com',
    'https://github.com/api',
    'http://github.com',
    'https://10.0.0.1',
  ]
  expect(refused.map(text => forgeOrigin(text, false))).toEqual(
    ['url', 'url', 'url', 'path', 'https', 'private'].map(reason => ({ ok: false, reason })),
  )
})
