import { expect, test } from 'vitest'
import { createRedactor } from '../../redaction/redact.ts'
import { outputText } from './output-text.ts'

test('text stays text, a character cut at the border does not make it binary', () => {
  expect(outputText(Buffer.from('grün ✓\n'))).toEqual({ output: 'grün ✓\n' })
  expect(outputText(Buffer.from('grün').subarray(0, 3))).toEqual({ output: 'gr\\xc3', escaped_bytes: 1 })
})

test('a NUL, or an invalid byte of UTF-8, is replaced, and all around it stays', () => {
  expect(outputText(Buffer.from('one line\0and another ✓ \ufffd\n'))).toEqual({
    output: 'one line\\x00and another ✓ \ufffd\n',
    escaped_bytes: 1,
  })
  expect(outputText(Buffer.from('\xff\xed\xa0\x80 a\xe2\x9c', 'latin1'))).toEqual({
    output: '\\xff\\xed\\xa0\\x80 a\\xe2\\x9c',
    escaped_bytes: 6,
  })
  const names = 'src/main.ts\0src/config.ts\0README.md\0'.repeat(100)
  expect(outputText(Buffer.from(names))).toEqual({
    output: names.replaceAll('\0', '\\x00'),
    escaped_bytes: 300,
  })
})

test('every text is unchanged, except for invalid characters', () => {
  const all = Array.from({ length: 0x110000 }, (_, code) =>
    code === 0 || (code >= 0xd800 && code < 0xe000) ? '' : String.fromCodePoint(code),
  )
  const text = all.join('')
  expect(outputText(Buffer.from(`${text}\0`)).output === `${text}\\x00`).toBe(true)
})

test('a value that a program has put bytes between is not to be read in what is shown', () => {
  const { text, json, bytes } = createRedactor([{ name: 'A', value: 'kQ7wXz2mN9pLr4Ts' }])
  const written = Buffer.from(`before ${[...'kQ7wXz2mN9pLr4Ts'].join('\0')} and \0 ${'words '.repeat(20)}`)
  expect(outputText(bytes(written)).output).toMatch(/^before \[redacted:A\] and \\x00 words/)
  const { output } = outputText(written)
  expect(text(output)).toContain('[redacted:A]')
  expect(json(JSON.stringify({ output }))).toContain('[redacted:A]')
})

test('of binary output that is only part of it, all of it is counted', () => {
  expect(outputText(new Uint8Array(10), 5_000)).toMatchObject({
    binary: true,
    output: '[binary output, 5000 bytes]',
  })
})

test('binary output is declared binary and kept as base64', () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 131) % 256)
  const text = outputText(bytes)
  expect(text).toMatchObject({ binary: true, output: '[binary output, 1000 bytes]' })
  expect(Buffer.from(text.base64 ?? '', 'base64')).toEqual(Buffer.from(bytes))
})
