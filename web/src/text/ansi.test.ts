import { expect, test } from 'vitest'
import { ansiParts, withoutAnsi } from './ansi.ts'

const ESC = '\u001b'
const text = (output: string) =>
  ansiParts(output)
    .map(part => part.text)
    .join('')

test('colours become classes, and the text stays what it was', () => {
  expect(ansiParts(`a ${ESC}[1;31mred${ESC}[0m b\n`)).toEqual([
    { classes: '', text: 'a ' },
    { classes: 'ansi-bold ansi-red-fg', text: 'red' },
    { classes: '', text: ' b\n' },
  ])
})

test('colours beyond the sixteen are CSS colours and nothing else gets into a style', () => {
  expect(ansiParts(`${ESC}[38;2;1;2;3;48;5;200mx${ESC}[0m`)[0]).toEqual({
    classes: '',
    color: 'rgb(1,2,3)',
    background: 'rgb(255,0,215)',
    text: 'x',
  })
})

test('markup in output is text', () => {
  const payload = `<img src=x onerror=alert(1)> <span style="position:fixed">&amp;</span> "'`
  expect(ansiParts(payload)).toEqual([{ classes: '', text: payload }])
  expect(text(`${ESC}[32m</span><script>alert(1)</script>${ESC}[0m`)).toBe('</span><script>alert(1)</script>')
})

test('a terminal hyperlink leads to http(s) only', () => {
  const link = (url: string) => ansiParts(`${ESC}]8;;${url}${ESC}\\click${ESC}]8;;${ESC}\\`)
  expect(link('https://example.com/a?b=1&c="2"')).toEqual([
    { classes: '', href: 'https://example.com/a?b=1&c=%222%22', text: 'click' },
  ])
  expect(link('javascript:alert(1)').some(part => part.href)).toBe(false)
  expect(link('http://user:secret@example.com/').some(part => part.href)).toBe(false)
})

test('a sequence that is cut off hides nothing that follows or precedes it', () => {
  expect(text(`before ${ESC}]8;;https://example.com after`)).toContain('after')
  expect(text(`before ${ESC}[31`)).toContain('before')
  expect(text(`one${ESC}`)).toContain('one')
})

test('titles, clipboard writes and other device strings vanish', () => {
  expect(text(`a${ESC}]0;title\u0007b${ESC}]52;c;ZXZpbA==\u0007c${ESC}P+q544e${ESC}\\d`)).toBe('abcd')
})

test('cursor movements and bidi controls cannot fake other text', () => {
  expect(text(`safe${ESC}[2K${ESC}[1Aevil`)).toBe('safeevil')
  expect(text('a\u202Etxt.exe')).toBe('a⟨U+202E⟩txt.exe')
})

test('a line that was written over shows its last state only', () => {
  expect(text('10 %\r50 %\r100 %\ndone\r\n')).toBe('100 %\ndone\n')
})

test('plain text has no escape sequence left', () => {
  expect(withoutAnsi(`${ESC}[31mred${ESC}[0m\n`)).toBe('red\n')
})

test('inverse video is kept, also with a colour, and a 7 inside a colour is none', () => {
  expect(ansiParts(`${ESC}[7m FAIL ${ESC}[0m ${ESC}[31;7mred${ESC}[27m on${ESC}[0m`)).toEqual([
    { classes: 'ansi-inverse', text: ' FAIL ' },
    { classes: '', text: ' ' },
    { classes: 'ansi-red-fg ansi-inverse', text: 'red' },
    { classes: 'ansi-red-fg', text: ' on' },
  ])
  expect(ansiParts(`${ESC}[38;5;7mgrey${ESC}[0m`)[0]?.classes).not.toContain('inverse')
})

test('carriage returns and links without end take linear time', () => {
  expect(text(`a\rb${'\r'.repeat(200_000)}`)).toBe('b')
  expect(text(`${'a\r'.repeat(100_000)}b\r\r\nc`)).toBe('b\nc')
  expect(text(`${`${ESC}]8;;`.repeat(50_000)}a`)).toBe(`${';'.repeat(50_000)}a`)
  expect(text('\u2028'.repeat(200_000)).length).toBeGreaterThan(0)
})
