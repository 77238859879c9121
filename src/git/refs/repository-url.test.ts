import { describe, expect, test } from 'vitest'
import { parseRepositoryUrl } from './repository-url.ts'

const strict = { local_paths: ['/srv/repos', '/home/ada/one.git/'], allow_private: false }
const open = { local_paths: ['/srv/repos'], allow_private: true }

describe('accepted', () => {
  test.each([
    ['https://github.com/acme/app.git', 'https', 'https://github.com/acme/app.git', 'app', 'acme/app'],
    ['HTTPS://GitHub.com/acme/app/', 'https', 'https://github.com/acme/app', 'app', 'acme/app'],
    [
      'https://git.example.org:8443/group/sub/app',
      'https',
      'https://git.example.org:8443/group/sub/app',
      'app',
      'sub/app',
    ],
    ['https://git.example.org/app.git', 'https', 'https://git.example.org/app.git', 'app', 'app'],
    ['https://140.82.121.3/acme/app', 'https', 'https://140.82.121.3/acme/app', 'app', 'acme/app'],
    ['git@github.com:acme/app.git', 'ssh', 'git@github.com:acme/app.git', 'app', 'acme/app'],
    [
      'ssh://git@git.example.org:2222/acme/app.git',
      'ssh',
      'ssh://git@git.example.org:2222/acme/app.git',
      'app',
      'acme/app',
    ],
    ['ssh://git.example.org/~ada/app', 'ssh', 'ssh://git.example.org/~ada/app', 'app', '~ada/app'],
    ['/srv/repos/acme/app.git', 'local', '/srv/repos/acme/app.git', 'app', 'acme/app'],
    ['/srv/repos/app/.git', 'local', '/srv/repos/app/.git', 'app', 'repos/app'],
    ['/srv/repos//x/../app/', 'local', '/srv/repos/app', 'app', 'repos/app'],
    ['file:///srv/repos/my%20app', 'local', '/srv/repos/my app', 'my app', 'repos/my app'],
    ['file://localhost/srv/repos/app', 'local', '/srv/repos/app', 'app', 'repos/app'],
    ['/home/ada/one.git', 'local', '/home/ada/one.git', 'one', 'ada/one'],
  ])('%s', (text, kind, url, name, full_name) => {
    expect(parseRepositoryUrl(text, strict)).toEqual({ ok: true, kind, url, name, full_name })
  })

  test.each([
    ['http://git.example.org/acme/app', 'http'],
    ['http://127.0.0.1:3000/acme/app', 'http'],
    ['https://localhost/acme/app', 'https'],
    ['https://[::1]:8443/acme/app', 'https'],
    ['git@10.0.0.1:acme/app', 'ssh'],
  ])('%s, with private addresses allowed', (text, kind) => {
    expect(parseRepositoryUrl(text, open)).toMatchObject({ ok: true, kind })
    expect(parseRepositoryUrl(text, strict)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('operator'),
    })
  })
})

describe('F123 refused', () => {
  test.each([
    ['', 'empty'],
    [' https://github.com/acme/app', 'spaces'],
    ['https://github.com/acme/app\n', 'spaces'],
    ['https://github.com/acme/app\nx', 'control'],
    ['https://github.com/acme/app%0aurl=x', 'control'],
    ['https://github.com/acme/app%0D', 'control'],
    ['https://github.com/acme%5capp', 'control'],
    ['https://github.com\\@evil.example/acme/app', 'control'],
    ['--upload-pack=/bin/sh', '“-”'],
    ['-u./x', '“-”'],
    ['https://-oProxyCommand=x/app', 'host'],
    ['ssh://-oProxyCommand=touch/app', 'host'],
    ['ssh://git@-oProxyCommand=x/app', 'host'],
    ['git@-oProxyCommand=x:app', '“-”'],
    ['ssh://git@example.org/-app', '“-”'],
    ['git@example.org:-app', '“-”'],
    ['-git@example.org:app', '“-”'],
    ['ext::sh -c touch% /tmp/x', 'only https'],
    ['ext::https://github.com/acme/app', 'only https'],
    ['fd::3', 'only https'],
    ['https::https://github.com/a/b', 'only https'],
    ['git://github.com/acme/app', 'only https'],
    ['ftp://github.com/acme/app', 'only https'],
    ['javascript:alert(1)', 'only https'],
    ['acme/app', 'only https'],
    ['./app', 'only https'],
    ['~/app', 'only https'],
    ['github.com:acme/app', 'only https'],
    ['git@example.org::app', 'only https'],
    ['https://user@github.com/acme/app', 'user name'],
    ['https://user:secret@github.com/acme/app', 'user name'],
    ['https://:@github.com/acme/app', 'user name'],
    ['ssh://git:secret@github.com/acme/app', 'password'],
    ['ssh://a@b@github.com/acme/app', 'password'],
    ['ssh://gi%20t@github.com/acme/app', 'user name'],
    ['https://github.com/acme/app?x=1', 'query'],
    ['https://github.com/acme/app#main', 'query'],
    ['https://github.com', 'does not name'],
    ['https://github.com/', 'does not name'],
    ['https://github.com/..', 'does not name'],
    ['http://github.com/acme/app', 'http://'],
    ['https://127.0.0.1/acme/app', 'private'],
    ['https://2130706433/acme/app', 'private'],
    ['https://0x7f.1/acme/app', 'private'],
    ['https://[::ffff:127.0.0.1]/acme/app', 'private'],
    ['https://localhost./acme/app', 'private'],
    ['https://metadata.google.internal/acme/app', 'private'],
    ['git@192.168.0.7:acme/app', 'private'],
    ['/etc', 'local path'],
    ['/srv/repos-other/app', 'local path'],
    ['/srv/repos/../../etc/app', 'local path'],
    ['/home/ada/two.git', 'local path'],
    ['file:///etc/app', 'local path'],
    ['file:///srv/repos/%2e%2e/%2e%2e/etc/app', 'local path'],
    ['file://evil.example/srv/repos/app', 'host'],
    ['file:///srv/repos/app%0a', 'control'],
    [`https://github.com/${'x'.repeat(2_000)}`, 'longer'],
  ])('%j', (text, reason) => {
    expect(parseRepositoryUrl(text, strict)).toEqual({ ok: false, reason: expect.stringContaining(reason) })
  })
})

test('without local paths no path can be used, and with / every path', () => {
  expect(parseRepositoryUrl('/srv/app', { local_paths: [], allow_private: true })).toMatchObject({
    ok: false,
  })
  expect(parseRepositoryUrl('/srv/app', { local_paths: ['/'], allow_private: false })).toMatchObject({
    ok: true,
    url: '/srv/app',
  })
  expect(parseRepositoryUrl('/', { local_paths: ['/'], allow_private: false })).toMatchObject({ ok: false })
})
