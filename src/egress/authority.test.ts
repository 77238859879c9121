import fc from 'fast-check'
import { expect, test } from 'vitest'
import { authorityText, parseAuthority } from './authority.ts'

test.each([
  ['github.com:443', { host: 'github.com', port: 443, address: false }],
  ['LOCALHOST.:80', { host: 'localhost', port: 80, address: false }],
  ['_dmarc.x-y.example:8080', { host: '_dmarc.x-y.example', port: 8080, address: false }],
  ['127.0.0.1:1', { host: '127.0.0.1', port: 1, address: true }],
  ['[::1]:443', { host: '::1', port: 443, address: true }],
  ['[0:0:0:0:0:FFFF:7f00:1]:443', { host: '::ffff:7f00:1', port: 443, address: true }],
])('%s is a host and a port', (text, authority) => {
  expect(parseAuthority(text, null)).toEqual(authority)
})

test.each([
  ...[
    '',
    ':443',
    'github.com',
    'github.com:',
    'github.com:0',
    'github.com:65536',
    'github.com:4 43',
    'github.com:+443',
    'github.com:0x1bb',
  ],
  ...[
    'a@github.com:443',
    'github.com:443@127.0.0.1:80',
    'u:p@github.com:443',
    'evil.example\0.github.com:443',
    'evil.example%00:443',
  ],
  ...[
    '127.1:80',
    '0x7f000001:80',
    '2130706433:80',
    '0177.0.0.1:80',
    '127.0.0.01:80',
    '1.2.3.4.5:80',
    '127.0.0.1.:443x',
    'a.0x7f:80',
  ],
  ...[
    '::1:80',
    '[::1',
    '[127.0.0.1]:80',
    '[fe80::1%eth0]:80',
    '[::1]]:80',
    'github.com/x:443',
    'github.com\\x:443',
    'github..com:443',
  ],
  ...[
    '.github.com:443',
    '-a.com:443',
    'a-.com:443',
    'github.com:443 ',
    ' github.com:443',
    'github.com\r\n:443',
    'bücher.example:443',
    '*.a.com:443',
  ],
  `${'a'.repeat(64)}.com:443`,
])('%j is none', text => {
  expect(parseAuthority(text, null)).toBeNull()
})

test('a parsed authority is written so that it parses the same, and names exactly one host', () => {
  const characters = fc.string({
    unit: fc.constantFrom(...'abcX.0123456789:[]@%/\\\0 -_'.split('')),
    maxLength: 20,
  })
  fc.assert(
    fc.property(characters, text => {
      const authority = parseAuthority(text, 80)
      if (authority === null) return
      expect(parseAuthority(authorityText(authority), 80)).toEqual(authority)
      expect(authority.host).toMatch(/^(?:[a-z0-9_.-]+|[0-9a-f:.]+)$/)
      // A URL parser that understands other writings sees the same host.
      expect(new URL(`ws://${authorityText(authority)}`).hostname.replace(/^\[|\]$/g, '')).toBe(
        authority.host,
      )
    }),
    { seed: Number(process.env.TEST_SEED ?? 1), numRuns: 2_000 },
  )
})
