import { expect, test } from 'vitest'
import { outputText } from './output-text.ts'

test('text stays text, a character cut at the border does not make it binary', () => {
  expect(outputText(Buffer.from('grün ✓\n'))).toEqual({ output: 'grün ✓\n' })
  expect(outputText(Buffer.from('grün').subarray(0, 3))).toEqual({ output: 'gr\uFFFD' })
})

test('of binary output that is only part of it, all of it is counted', () => {
  expect(outputText(new Uint8Array(10), 5_000)).toMatchObject({ binary: true, output: '[binary output, 5000 bytes]' })
})

test('binary output is said to be binary and kept as base64', () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 131) % 256)
  const text = outputText(bytes)
  expect(text).toMatchObject({ binary: true, output: '[binary output, 1000 bytes]' })
  expect(Buffer.from(text.base64 ?? '', 'base64')).toEqual(Buffer.from(bytes))
})
