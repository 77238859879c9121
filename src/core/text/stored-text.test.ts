import { expect, test } from 'vitest'
import { storedText } from './stored-text.ts'

test('NUL and halves of surrogate pairs are replaced one by one', () => {
  expect(storedText('\0a\0\0b\ud83dc\ude00')).toBe('\ufffda\ufffd\ufffdb\ufffdc\ufffd')
})

test('every other text stays as it is', () => {
  for (const text of ['', 'größer 🙂\r\n\t', '\u0001\u007f\uffff\ufffd']) expect(storedText(text)).toBe(text)
})
