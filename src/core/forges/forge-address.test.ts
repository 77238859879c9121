import { expect, test } from 'vitest'
import { forgeUrl, repositoryOn } from './forge-address.ts'

const GITHUB = 'https://github.com'
const BELOW = 'https://example.org/gitea'

test.each([
  [GITHUB, 'https://github.com/acme/app.git', 'https', { owner: 'acme', name: 'app' }],
  [GITHUB, 'https://GitHub.com/acme/app', 'https', { owner: 'acme', name: 'app' }],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/acme/a.b', 'http', { owner: 'acme', name: 'a.b' }],
  [GITHUB, 'git@github.com:acme/app.git', 'ssh', { owner: 'acme', name: 'app' }],
  [GITHUB, 'ssh://git@github.com:22/acme/app', 'ssh', { owner: 'acme', name: 'app' }],
  [BELOW, 'https://example.org/gitea/acme/app.git', 'https', { owner: 'acme', name: 'app' }],
  [BELOW, 'git@example.org:acme/app.git', 'ssh', { owner: 'acme', name: 'app' }],
] as const)('on %s, %s names its repository', (forge, url, kind, repository) => {
  expect(repositoryOn(forge, { url, kind })).toEqual(repository)
})

test.each([
  [GITHUB, '/srv/acme/app', 'local'],
  [GITHUB, 'https://github.com/app', 'https'],
  [GITHUB, 'https://github.com/group/sub/app', 'https'],
  [GITHUB, 'https://github.com/acme/..', 'https'],
  [GITHUB, 'https://github.com/acme/%2e%2e', 'https'],
  [GITHUB, 'https://github.com/a%2Fb/c', 'https'],
  [GITHUB, 'http://github.com/acme/app', 'http'],
  [GITHUB, 'https://github.com:8443/acme/app', 'https'],
  [GITHUB, 'https://github.com.example.org/acme/app', 'https'],
  [GITHUB, 'git@example.org:acme/app.git', 'ssh'],
  [BELOW, 'https://example.org/acme/app', 'https'],
  [BELOW, 'https://example.org/other/acme/app', 'https'],
  [BELOW, 'https://example.org/gitea/../acme/app', 'https'],
] as const)('on %s, %s is not a repository', (forge, url, kind) => {
  expect(repositoryOn(forge, { url, kind })).toBeNull()
})

test('a forge is an origin, or a path below one: no password, and no private address unless the operator allows it', () => {
  const read = (text: string, allow_private = false, path = false) => forgeUrl(text, { allow_private, path })
  expect(read('https://GitHub.com')).toEqual({ ok: true, url: 'https://github.com' })
  expect(read('http://127.0.0.1:81/', true)).toEqual({ ok: true, url: 'http://127.0.0.1:81' })
  for (const text of [
    'https://Example.org/gitea',
    'https://example.org/gitea/',
    'https://example.org//gitea//',
  ])
    expect(read(text, false, true)).toEqual({ ok: true, url: 'https://example.org/gitea' })
  const refused = [
    'github.com',
    'https://a:b@github.com',
    'ssh://github.com',
    'https://github.com/api',
    'http://github.com',
    'https://10.0.0.1',
  ]
  expect(refused.map(text => read(text))).toEqual(
    ['url', 'url', 'url', 'path', 'https', 'private'].map(reason => ({ ok: false, reason })),
  )
  for (const text of ['https://example.org/a?b', 'https://example.org/a#b', 'https://example.org/a%2Fb'])
    expect(read(text, false, true)).toEqual({ ok: false, reason: 'path' })
})
