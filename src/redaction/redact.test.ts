import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { countRedactions, createRedactor } from './redact.ts'

const TOKEN = 'Tr0ub4dor/and+3 "q\\uotes" & 100%41é'
const PLAIN = 'kQ7wXz2mN9pLr4Ts'
const PEM = [
  '-----BEGIN CERTIFICATE-----',
  ...[1, 2, 3].map(n => `MIIB${`${n}aB`.repeat(19)}`),
  'Zm9vYmFy',
  '-----END CERTIFICATE-----',
].join('\n')
const values = [
  { name: 'TOKEN', value: TOKEN },
  { name: 'PLAIN', value: PLAIN },
  { name: 'CERTIFICATE', value: PEM },
]
const redactor = createRedactor(values)
/** By the program that everybody has. */
const base32 = (text: string) => spawnSync('base32', ['-w0'], { input: text, encoding: 'utf8' }).stdout
const base64 = (text: string) => Buffer.from(text).toString('base64')
const json = (text: string) => JSON.stringify(text).slice(1, -1)
const wrapped = (text: string, width: number) => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n')

const wide = (text: string) =>
  text.replace(/[!-~]/g, c => String.fromCharCode(c.charCodeAt(0) + 0xfee0)).replaceAll(' ', '\u3000')
const swapped = (c: string) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())
/** Every byte that may be, is escaped. */
const quoted = (text: string) =>
  [...Buffer.from(text)]
    .map(byte =>
      /[A-Za-z0-9]/.test(String.fromCharCode(byte))
        ? String.fromCharCode(byte)
        : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('')

/** How a program may transform a value; `x` is its surroundings. */
const written: [string, (value: string) => string][] = [
  ['as it is', value => `x${value}x`],
  ['base64 of it alone', base64],
  ['base64 behind one byte', value => base64(`x${value}x`)],
  ['base64 behind two bytes', value => base64(`xx${value}xx`)],
  ['base64 for URLs', value => Buffer.from(`x${value}`).toString('base64url')],
  ['base64 in lines of 20', value => wrapped(base64(`the value is ${value}.`), 20)],
  [
    'base64 in lines with CRLF and indented',
    value => wrapped(base64(`the value is ${value}.`), 16).replaceAll('\n', '\r\n    '),
  ],
  ['base64 in lines, in JSON', value => JSON.stringify(wrapped(base64(`is ${value}.`), 16))],
  ...[0, 1, 2, 3, 4].map((n): [string, (value: string) => string] => [
    `base32 behind ${n} bytes`,
    value => base32(`${'x'.repeat(n)}${value}`),
  ]),
  ['base32 in small letters and lines', value => wrapped(base32(`is ${value}.`).toLowerCase(), 20)],
  ['hexadecimal', value => Buffer.from(value).toString('hex')],
  ['capital hexadecimal in lines', value => wrapped(Buffer.from(value).toString('hex').toUpperCase(), 15)],
  ['in a URL', encodeURIComponent],
  ['in a URL, small letters', value => encodeURIComponent(value).replace(/%../g, all => all.toLowerCase())],
  ['in a URL, every byte', value => Buffer.from(value).toString('hex').replace(/../g, '%$&')],
  ['in a form', value => new URLSearchParams({ a: value }).toString()],
  ['in a URL in a URL', value => encodeURIComponent(encodeURIComponent(value))],
  ['in JSON', json],
  ['in JSON in JSON', value => json(json(value))],
  ['in JSON with slashes escaped', value => json(value).replaceAll('/', '\\/')],
  [
    'in JSON, all but letters as \\u',
    value => value.replace(/[^A-Za-z0-9]/g, c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ],
  ['in HTML', value => value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')],
  ['in HTML, as numbers', value => value.replace(/[^A-Za-z0-9\n]/g, c => `&#${c.charCodeAt(0)};`)],
  [
    'as octal escapes',
    value => [...Buffer.from(value)].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join(''),
  ],
  ['base64 of base64 in lines', value => wrapped(base64(`${base64(`${value}\n`)}\n`), 19)],
  ['coloured by grep', value => `\x1b[01;31m\x1b[K${value.slice(0, 3)}\x1b[m\x1b[K${value.slice(3)}`],
  [
    'coloured by grep, in JSON',
    value => json(`\x1b[01;31m\x1b[K${value.slice(0, 3)}\x1b[m\x1b[K${value.slice(3)}`),
  ],
  [
    'each character of another colour',
    value => [...value].map((char, n) => `\x1b[38;5;${n}m${char}`).join(''),
  ],
  ['struck over, as man writes it', value => [...value].map(char => `${char}\b${char}`).join('')],
  ['struck over, in JSON', value => json([...value].map(char => `${char}\b${char}`).join(''))],
  ['in UTF-16, in JSON', value => json([...value].join('\0'))],
  ['in UTF-16', value => [...value].join('\0')],
  ['with blanks of no width', value => [...value].join('\u200b')],
  ['with blanks of no width, read as bytes', value => [...value].join('\xe2\x80\x8b')],
  ['with soft hyphens', value => [...value].join('\u00ad')],
  ['in lines of seven', value => wrapped(value, 7)],
  ['in wide letters', wide],
  ['in wide letters, read as bytes', value => Buffer.from(wide(value)).toString('latin1')],
  ['in small letters for capital ones', value => [...value].map(swapped).join('')],
  ['backwards, in base64', value => base64(`xx${[...value].reverse().join('')}x`)],
  ['in base64, backwards', value => [...base64(`x${value}x`)].reverse().join('')],
  ['quoted-printable', value => quoted(value)],
  ['quoted-printable, in lines', value => quoted(value).replace(/(?:=..|.){9}/g, '$&=\r\n')],
  ['decimal bytes', value => Buffer.from(value).join(' ')],
  ['decimal bytes in a list', value => JSON.stringify([...Buffer.from(value)])],
  [
    'decimal bytes as od writes them',
    value => spawnSync('od', ['-An', '-tu1', '-w8'], { input: value, encoding: 'utf8' }).stdout,
  ],
  ['one decimal number', value => `${BigInt(`0x${Buffer.from(value).toString('hex')}`)}`],
]

describe.each([
  ['with every kind of character', TOKEN, 'TOKEN'],
  ['of letters and digits', PLAIN, 'PLAIN'],
])('a value %s', (_, value, name) => {
  test.each(written)('is not to be read: %s', (_how, write) => {
    const text = `before ${write(value)} after`
    const clean = redactor.text(text)
    expect(clean).toContain(`[redacted:${name}]`)
    expect(clean).toMatch(/^before .{0,24}\[redacted:\w+\].{0,24}\s* after$/s)
    expect(redactor.text(clean)).toBe(clean)
  })

  test.each(written)('nor when it comes in pieces: %s', (_how, write) => {
    const text = `before ${write(value)} after`
    const whole = redactor.text(text)
    for (let at = 1; at < text.length; at++) {
      const stream = redactor.stream()
      expect(stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end()).toBe(whole)
    }
    const stream = redactor.stream()
    expect([...text].map(piece => stream.push(piece)).join('') + stream.end()).toBe(whole)
  })

  const in_bytes = written.filter(([how]) => !how.includes('read as bytes'))
  test.each(in_bytes)('nor in the bytes of an output: %s', (_how, write) => {
    const clean = Buffer.from(redactor.bytes(Buffer.from(`before ${write(value)} after`))).toString()
    expect(clean).toMatch(/^before .{0,24}\[redacted:\w+\].{0,24}\s* after$/s)
  })

  test('as bytes, in any surroundings', () => {
    const bytes = Buffer.concat([Buffer.from([0, 255, 254]), Buffer.from(value), Buffer.from([200, 0])])
    expect(Buffer.from(redactor.bytes(bytes))).toEqual(
      Buffer.concat([Buffer.from([0, 255, 254]), Buffer.from(`[redacted:${name}]`), Buffer.from([200, 0])]),
    )
  })
})

test('backwards, shifted by thirteen letters, and in small or capital letters, as a host is written', () => {
  const shifted = PLAIN.replace(/[a-z]/gi, c =>
    String.fromCharCode(c.charCodeAt(0) + (/[a-m]/i.test(c) ? 13 : -13)),
  )
  for (const text of [[...PLAIN].reverse().join(''), PLAIN.toLowerCase(), PLAIN.toUpperCase(), shifted])
    expect(redactor.text(text)).toBe('[redacted:PLAIN]')
})

test.each([
  ['b85encode', 0, 'Yf(3MSb8#TPC0N)ax_$PczAet'],
  ['a85encode', 0, 'CJd$7=F)`>:-!8eE\\pa:G^+IX'],
  ['b85encode', 1, 'cxzENcUXEdZB99GOmZ|-b9i`ocm'],
  ['a85encode', 1, 'G\\^/8G?B/HD,**19QDshF*MqSGQ'],
  ['b85encode', 2, 'czA13H+NWiGHp&da7=PERC9QEcz6'],
  ['a85encode', 2, 'G^+"$2g8AM12TcHE(k:/<-*;/G^\''],
  ['b85encode', 3, 'czAegQ8#y3dNOTJIdDvJG*okVczAd'],
  ['a85encode', 3, 'G^+IK;)`]$H89>43H.Z41fSO@G^+H'],
  ['z85', 0, 'yF^3msB8-tpc0n!AX{:p'],
])('in base85, by %s behind %i bytes', (_how, _before, encoded) => {
  expect(redactor.text(`before ${encoded} after`)).toMatch(/^before .{0,5}\[redacted:PLAIN\].{0,9} after$/)
})

test('a value of many lines: as a whole, as each of its long lines, and in JSON', () => {
  expect(redactor.text(`a\n${PEM}\nb`)).toBe('a\n[redacted:CERTIFICATE]\nb')
  expect(redactor.text(JSON.stringify({ key: PEM }))).toBe('{"key":"[redacted:CERTIFICATE]"}')
  for (const line of PEM.split('\n').slice(1, -2))
    expect(redactor.text(`> ${line}`)).toBe('> [redacted:CERTIFICATE]')
  expect(redactor.text('-----BEGIN CERTIFICATE-----')).toBe('-----BEGIN CERTIFICATE-----')
})

test('a live stream shows each line whole when it has ended, and of a value that begins there no more than three characters', () => {
  const stream = redactor.stream(true)
  const head = PLAIN.slice(0, 1)
  // Without `live` the last character waits for what follows.
  expect(redactor.stream().push(`word${head}\n`)).toBe('word')
  expect(stream.push(`word${head}\n`)).toBe(`word${head}\n`)
  expect(stream.push('next\n')).toBe('next\n')
  expect(stream.push(`${head}\n`)).toBe(`${head}\n`)
  const rest = stream.push(PLAIN.slice(1)) + stream.push(`. ${head}\r\n`)
  expect(rest + stream.end()).toBe(`[redacted:PLAIN]. ${head}\r\n`)
  const lines = [...PLAIN].map(char => `${char}\n`)
  const slow = redactor.stream(true)
  expect(lines.map(line => slow.push(line)).join('') + slow.push(' after') + slow.end()).toBe(
    `${lines[0]}[redacted:PLAIN]\n after`,
  )
  for (let length = 1; length < PLAIN.length; length++) {
    const cut = redactor.stream(true)
    const shown = cut.push(`${PLAIN.slice(0, length)}\n`)
    expect(shown.length).toBeLessThanOrEqual(4)
    expect(shown + cut.push(`${PLAIN.slice(length)}.`) + cut.end()).toBe(`${shown}[redacted:PLAIN].`)
  }
})

test('a stream holds back no more than the possible beginning of a value', () => {
  const stream = redactor.stream()
  expect(stream.push('Password: ')).toBe('Password: ')
  expect(stream.push(`compiling... ${PLAIN.slice(0, 9)}`)).toBe('compiling... ')
  expect(stream.push('!')).toBe(`${PLAIN.slice(0, 9)}!`)
  expect(stream.push(PLAIN.slice(0, -1))).toBe('')
  expect(stream.end()).toBe(PLAIN.slice(0, -1))
})

test('a JSON value: keys and strings, and one that holds nothing is the same one', () => {
  const nothing = { a: ['b', 1, null] }
  expect(redactor.value(nothing)).toBe(nothing)
  expect(redactor.value({ [PLAIN]: [`x ${TOKEN}`, 1, { n: null }] })).toEqual({
    '[redacted:PLAIN]': ['x [redacted:TOKEN]', 1, { n: null }],
  })
  const wrapped_in_lines = wrapped(base64(`of ${TOKEN}`), 12)
  expect(JSON.parse(redactor.json(JSON.stringify([wrapped_in_lines])))[0]).toContain('[redacted:TOKEN]')
  expect(redactor.json('{"a": 1}')).toBe('{"a": 1}')
})

test('a value may be a part of a name, and its replacement is not redacted again', () => {
  const odd = createRedactor([
    { name: 'PASSWORD', value: 'redacted' },
    { name: 'OTHER', value: 'PASSWORD' },
  ])
  const clean = odd.text('redacted PASSWORD')
  expect(clean).toBe('[redacted:PASSWORD] [redacted:OTHER]')
  expect(odd.text(clean)).toBe(clean)
})

test.each(['assistant', 'Completed', 'tool-call', 'toolCallId', 'tool_cal', 'detelpmoc'])(
  '%s is not a secret: a journal is read by such words',
  value => {
    const record = {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'a' }],
      tool_calls: [],
      status: 'completed',
    }
    expect(createRedactor([{ name: 'WORD', value }]).value(record)).toEqual(record)
  },
)

test('values shorter than eight bytes are not redacted', () => {
  expect(createRedactor([{ name: 'A', value: 'short' }]).text('short')).toBe('short')
  expect(createRedactor([{ name: 'A', value: 'eight888' }]).text('eight888')).toBe('[redacted:A]')
})

test('every known value that is found is reported, and counted by its replacement', () => {
  const met: string[] = []
  const reporting = createRedactor(values, name => met.push(name))
  const clean = reporting.text(`${PLAIN} ${TOKEN} ${PLAIN} AKIAABCDEFGHIJKLMNOP`)
  expect(new Set(met)).toEqual(new Set(['PLAIN', 'TOKEN']))
  expect(countRedactions(clean)).toEqual({ PLAIN: 2, TOKEN: 1, aws_access_key: 1 })
  expect(countRedactions('nothing')).toBeNull()
  expect(reporting.names(`${TOKEN} and ${PLAIN}`).sort()).toEqual(['PLAIN', 'TOKEN'])
})

const evil = [
  'eyJ',
  'eyJaaaaaaaaaaa.',
  '-----BEGIN PRIVATE KEY-----\n',
  '://a:',
  '://aaaaaaaa:bbbbbbbb',
  'sk-',
  'github_pat_',
  '\\',
  '%25',
  '&#',
  '\n ',
  '\\n',
]
test.each(evil)('a text that is built to be slow is read once, not once for each position: %j', part => {
  // A square of this length would outlast the test.
  const text = part.repeat(Math.ceil(1_000_000 / part.length))
  expect(redactor.text(text).length).toBeLessThanOrEqual(text.length + 30)
})

test('a long value of one letter takes linear time, and is redacted completely', () => {
  const long = 'a'.repeat(65_536)
  const redactor = createRedactor([{ name: 'LONG', value: long }])
  expect(redactor.text(`(${long})`)).toBe('([redacted:LONG])')
  for (const text of ['a'.repeat(1_000_000), `${'a'.repeat(65_535)}b`.repeat(16)])
    expect(redactor.text(text)).not.toContain('aaaaaaaa')
  const stream = redactor.stream()
  let shown = ''
  for (let n = 0; n < 20; n++) shown += stream.push(`${'a'.repeat(10_000)}b`)
  expect(shown + stream.end()).not.toContain('aaaaaaaa')
})

test('output for a terminal is not held back, even if its end is a possible beginning of a value', () => {
  const mine = createRedactor([{ name: 'M', value: 'mQ7wXz2N9pLr4Ts0' }])
  const stream = mine.stream()
  expect(stream.push('\x1b[31mred\x1b[0m\n')).toContain('\x1b[31mred\x1b[0m')
  expect(stream.push('then mQ7wX') + stream.push('z2N9pLr4Ts0 and') + stream.end()).toContain(
    'then [redacted:M] and',
  )
})
