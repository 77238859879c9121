import fc from 'fast-check'
import { expect, test } from 'vitest'
import { visible } from './visible.ts'

test('ordinary text, with line breaks and tabs, is left alone', () => {
  const text = 'Grüße, 你好, שלום, مرحبا\n\t{"a": 1}\r\n'
  expect(visible(text)).toBe(text)
})

test('what reorders or hides text is shown by its code point', () => {
  expect(visible('a\u202Eb\u2066c\u200Bd\uFEFFe\u{E0041}f')).toBe(
    'a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+FEFF⟩e⟨U+E0041⟩f',
  )
})

test('control characters are shown by their picture, lone surrogates by their code', () => {
  expect(visible('a\u0000b\u001bc\u007fd\u009be\uD800f')).toBe('a␀b␛c␡d⟨U+009B⟩e⟨U+D800⟩f')
})

test('joined emoji stay whole', () => {
  expect(visible('👩‍💻 👨‍👩‍👧')).toBe('👩‍💻 👨‍👩‍👧')
  expect(visible('a\u200Db')).toBe('a⟨U+200D⟩b')
})

test('no output contains a bidi control, for any input', () => {
  const nasty = fc.constantFrom(
    '\u202E',
    '\u2067',
    '\u200F',
    '\u061C',
    '👩',
    '\u200D',
    '\uFE0F',
    'a',
    '\u001b',
    '\uD83D',
  )
  fc.assert(
    fc.property(fc.array(nasty), parts => {
      expect(visible(parts.join(''))).not.toMatch(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u001b]/)
    }),
  )
})
