import { describe, expect, test } from 'vitest'
import { gitErrorFrom, publicText } from './git-error.ts'

describe('messages of git get their code', () => {
  test.each([
    [
      'unreachable',
      "fatal: unable to access 'https://git.example.org/a/b/': Could not resolve host: git.example.org",
    ],
    [
      'unreachable',
      "fatal: unable to access 'https://127.0.0.1:1/a/': Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server",
    ],
    ['unreachable', "fatal: unable to access 'https://x/': The requested URL returned error: 503"],
    [
      'unreachable',
      'ssh: connect to host x port 22: Connection timed out\nfatal: Could not read from remote repository.',
    ],
    [
      'unreachable',
      'error: RPC failed; curl 28 Operation too slow. Less than 500 bytes/sec transferred the last 45 seconds\nfatal: expected flush after ref listing',
    ],
    ['auth', "fatal: could not read Username for 'https://github.com': terminal prompts disabled"],
    ['auth', "fatal: unable to access 'https://x/': The requested URL returned error: 403"],
    ['auth', 'git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.'],
    ['auth', 'Host key verification failed.\nfatal: Could not read from remote repository.'],
    ['not_found', "remote: Not Found\nfatal: repository 'https://github.com/a/b/' not found"],
    ['not_found', 'ERROR: Repository not found.\nfatal: Could not read from remote repository.'],
    [
      'not_a_repository',
      "fatal: '/srv/x' does not appear to be a git repository\nfatal: Could not read from remote repository.",
    ],
    ['not_a_repository', 'fatal: https://example.org/x/info/refs not valid: is this a git repository?'],
    [
      'corrupt',
      'error: object 1234: hasDotgit: contains .git\nfatal: fsck error in packed object\nfatal: fetch-pack: invalid index-pack output',
    ],
    ['failed', 'fatal: something new'],
  ])('%s: %s', (code, stderr) =>
    expect(gitErrorFrom(stderr, 'it failed')).toMatchObject({
      code,
      message: expect.stringMatching(/^it failed: /),
    }),
  )
})

test('a refused redirect names the fix', () => {
  const error = gitErrorFrom(
    "fatal: unable to access 'http://x/': The requested URL returned error: 302",
    'it failed',
  )
  expect(error).toMatchObject({ code: 'failed', message: expect.stringContaining('redirects') })
})

test('a message is on one line and has whole lines only, as nothing is redacted yet', () => {
  const messageOf = (stderr: string) => gitErrorFrom(stderr, 'it failed').message
  expect(messageOf(`${'x'.repeat(5_000)}\nfatal: end`)).toBe('it failed: fatal: end')
  expect(messageOf(`a\n${'x'.repeat(5_000)}`)).toBe(`it failed: ${'x'.repeat(5_000)}`)
  expect(messageOf(Array.from({ length: 9 }, (_, n) => n).join('\n'))).toBe('it failed: 3; 4; 5; 6; 7; 8')
  expect(gitErrorFrom('a\nb\r\nc', 'w').message).toBe('w: a; b; c')
})

test('passwords, given secrets and folders of the machine are not in a message', () => {
  const text = publicText(
    "'https://bob:hunter2@git.example.org/x' token-123456 /data/mirrors/7.git/objects",
    ['token-123456'],
    [['/data/mirrors/', '']],
  )
  expect(text).toBe("'https://***@git.example.org/x' *** 7.git/objects")
})
