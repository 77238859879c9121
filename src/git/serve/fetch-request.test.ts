import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FLUSH, pktLine } from '../process/pkt-line.ts'
import { readFetchRequest } from './fetch-request.ts'

const DELIMITER = Buffer.from('0001')
const SHA = 'abcdef0123456789abcdef0123456789abcdef01'
const UPPER = SHA.toUpperCase()

/** `|` is a flush, `-` a delimiter. */
function read(protocol: 0 | 1 | 2, ...lines: string[]) {
  const bytes = Buffer.concat(
    lines.map(line =>
      line === '|' ? FLUSH : line === '-' ? DELIMITER : pktLine(Buffer.from(line, 'latin1')),
    ),
  )
  return readFetchRequest(bytes, protocol)
}
const fetch2 = (...lines: string[]) =>
  read(2, 'command=fetch', 'agent=git/2.39.5', 'object-format=sha1', '-', ...lines, '|')

/**
 * Lines that git 2.39 reads in a way that the check of objects did not, or that name refs or objects
 * otherwise.
 */
const foreign = [
  `want ${UPPER}`,
  `want A${SHA.slice(1)}`,
  `want ${SHA} `,
  `want ${SHA}\n\n`,
  `want ${SHA}\0`,
  `want  ${SHA}`,
  `want\t${SHA}`,
  ` want ${SHA}`,
  `WANT ${SHA}`,
  `want ${SHA}${SHA.slice(0, 24)}`,
  `want ${SHA.slice(0, 39)}`,
  'want abcdef0',
  'want refs/agentrun/77/1',
  'want HEAD',
  'want ',
  'want-ref refs/agentrun/77/1',
  'want-ref refs/heads/main',
  `have ${UPPER}`,
  `have ${SHA} x`,
  `shallow ${UPPER}`,
  `shallow ${SHA}0`,
  'shallow refs/agentrun/77/1',
  'deepen 0',
  'deepen -1',
  'deepen 0x10',
  'deepen 2147483648',
  'deepen 1 ',
  'deepen-since yesterday',
  'deepen-since -1',
  `filter sparse:oid=${SHA}`,
  'filter sparse:path=x',
  `filter combine:blob:none+sparse:oid=${SHA}`,
  'filter object:type=blob',
  'filter blob:none ',
  'packfile-uris https',
  'sideband-all',
  'bundle-uri',
  `oid ${SHA}`,
  'size',
  'ERR no',
  '',
]

describe('protocol 2', () => {
  test('what git sends is read', async () => {
    expect(
      await fetch2(
        'thin-pack\n',
        'no-progress',
        'include-tag',
        'ofs-delta',
        `want ${SHA}\n`,
        `have ${SHA}\n`,
        'done\n',
      ),
    ).toEqual([
      { kind: 'option', text: 'command=fetch' },
      { kind: 'delimiter' },
      ...['thin-pack', 'no-progress', 'include-tag', 'ofs-delta'].map(text => ({ kind: 'option', text })),
      { kind: 'want', sha: SHA, rest: '' },
      { kind: 'mark', word: 'have', sha: SHA },
      { kind: 'option', text: 'done' },
      { kind: 'flush' },
    ])
    const accepted = [
      ...[
        `shallow ${SHA}`,
        'deepen 2147483647',
        'deepen-since 1700000000',
        'deepen-not v1',
        'deepen-relative',
        'wait-for-done',
      ],
      ...['filter blob:none', 'filter blob:limit=1k', 'filter tree:0'],
    ]
    for (const line of accepted) expect(await fetch2(line)).toHaveLength(4)
    expect(
      await read(
        2,
        'command=ls-refs',
        'server-option=x',
        '-',
        'peel',
        'symrefs',
        'unborn',
        'ref-prefix refs/heads/',
        '|',
      ),
    ).toHaveLength(7)
    expect(await read(2, 'command=ls-refs', '|')).toHaveLength(2)
    expect(await read(2, '|')).toEqual([{ kind: 'flush' }])
  })

  test.each(foreign)('%j is refused as an argument of fetch', async line => {
    expect(await fetch2(`want ${SHA}`, line)).toHaveProperty('problem')
  })

  test.each([
    ...[
      'command=object-info',
      'command=bundle-uri',
      'command=fetch ',
      'command=Fetch',
      'command=fetch=x',
      'command=__proto__',
      'fetch',
    ],
  ])('%j is refused as a command', async command => {
    expect(await read(2, command, '-', '|')).toHaveProperty('problem')
  })

  test.each([
    ['two commands', ['command=ls-refs', 'command=fetch', '-', `want ${SHA}`, '|']],
    ['a request after the first', ['command=ls-refs', '-', '|', 'command=fetch', '-', `want ${SHA}`, '|']],
    ['two delimiters', ['command=fetch', '-', '-', `want ${SHA}`, '|']],
    ['no end', ['command=fetch', '-', `want ${SHA}`]],
    ['no arguments after a delimiter', ['command=fetch', '-']],
    ['another object format', ['command=fetch', 'object-format=sha256', '-', `want ${SHA}`, '|']],
    ['an argument among the capabilities', ['command=fetch', `want ${UPPER}`, '-', '|']],
    ['an argument of another command', ['command=ls-refs', '-', `want ${SHA}`, '|']],
    ['no packet', []],
  ])('%s is refused', async (_what, lines) => {
    expect(await read(2, ...lines)).toHaveProperty('problem')
  })
})

test('a request has a limited number of lines', async () => {
  const want = pktLine(`want ${SHA}`)
  const whole = (count: number) =>
    Buffer.concat([pktLine('command=fetch'), DELIMITER, ...Array.from({ length: count }, () => want), FLUSH])
  expect(await readFetchRequest(whole(249_997), 2)).toHaveLength(250_000)
  expect(await readFetchRequest(whole(249_998), 2)).toEqual({ problem: 'a request has at most 250000 lines' })
  expect(await readFetchRequest(Buffer.from('0004'.repeat(4_000_000)), 0)).toHaveProperty('problem')
})

describe.each([0, 1] as const)('protocol %i', protocol => {
  const first = `want ${SHA} multi_ack_detailed no-done side-band-64k thin-pack ofs-delta deepen-since deepen-not filter agent=git/2.39.5\n`

  test('what git sends is read', async () => {
    expect(await read(protocol, first, '|', 'done\n')).toHaveLength(3)
    expect(
      await read(
        protocol,
        first,
        `want ${SHA}\n`,
        `shallow ${SHA}`,
        'deepen 3',
        '|',
        `have ${SHA}\n`,
        '|',
        `have ${SHA}\n`,
        '|',
      ),
    ).toHaveLength(9)
    expect(await read(protocol, `want ${SHA}`, '|', 'done')).toHaveLength(3)
    expect(await read(protocol, '|')).toEqual([{ kind: 'flush' }])
  })

  test.each(foreign)('%j is refused after the first line', async line => {
    expect(await read(protocol, first, line, '|', 'done')).toHaveProperty('problem')
    expect(await read(protocol, first, '|', line, 'done')).toHaveProperty('problem')
  })

  test.each([
    ['capitals in the first line', [`want ${UPPER} ofs-delta`, '|', 'done']],
    ['an unknown capability', [`want ${SHA} allow-any-sha1-in-want`, '|', 'done']],
    ['capabilities in a later line', [first, `want ${SHA} ofs-delta`, '|', 'done']],
    ['a want among what the client has', [first, '|', `want ${SHA}`, 'done']],
    ['a request after its end', [first, '|', 'done', first, '|', 'done']],
    ['no want', [`shallow ${SHA}`, '|', 'done']],
    ['a want without an end', [first]],
    ['a flush before it', ['|', first, '|', 'done']],
  ])('%s is refused', async (_what, lines) => {
    expect(await read(protocol, ...lines)).toHaveProperty('problem')
  })
})

test('a line names objects in exactly one form, whatever surrounds it', async () => {
  const words = fc.constantFrom(
    'want',
    'have',
    'shallow',
    'deepen-not',
    'want-ref',
    ' ',
    '\t',
    '\0',
    '\n',
    SHA,
    UPPER,
    'x',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(words, { maxLength: 6 }), async parts => {
      const lines = await fetch2(parts.join(''))
      if ('problem' in lines) return
      for (const line of lines) if (line.kind === 'want' || line.kind === 'mark') expect(line.sha).toBe(SHA)
      expect(lines.filter(line => line.kind === 'want').every(line => line.rest === '')).toBe(true)
    }),
  )
})
