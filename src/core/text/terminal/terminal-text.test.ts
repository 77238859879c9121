import fc from 'fast-check'
import { expect, test } from 'vitest'
import { terminalText } from './terminal-text.ts'

const shown = async (output: string) =>
  Buffer.from((await terminalText(Buffer.from(output))).bytes).toString()
const esc = '\x1b['

test.each([
  ['a counter', 'Get 1\rGet 2\rGet 30\r\ndone\n', 'Get 30\ndone\n'],
  ['a shorter state over a longer one', 'Downloading\rDone\n', 'Doneloading\n'],
  ['an erased line', `Downloading 50 %\r${esc}KDone\n`, 'Done\n'],
  ['an erased line, whole', `Downloading${esc}2K\rDone\n`, 'Done\n'],
  ['a line erased by blanks', 'Downloading\r           \rok\n', 'ok\n'],
  ['a line erased by blanks to its end', 'ls\nDownloading\r           \r', 'ls\n'],
  ['backspaces of a spinner', 'wait |\b/\b-\b\\\b \bok\n', 'wait ok\n'],
  ['npm', `${esc}1G${esc}0K⠙${esc}1G${esc}0K⠹${esc}1G${esc}0K\nadded 3 packages\n`, '\nadded 3 packages\n'],
  [
    'pip',
    `   ━━━━ 1/9 MB\r${esc}2K   ━━━━━━━━ 9/9 MB\r${esc}2K   ━━━━━━━━ 9/9 MB\n${esc}?25hok\n`,
    '   ━━━━━━━━ 9/9 MB\nok\n',
  ],
  [
    'cargo',
    `${esc}1m${esc}32m   Compiling${esc}0m a\n    Building 1/2\r${esc}K    Building 2/2\r${esc}K`,
    `${esc}1;32m   Compiling${esc}0m a\n`,
  ],
  [
    'docker, several lines',
    `a: 1\nb: 1\n${esc}2A\r${esc}2Ka: 2\n\r${esc}2Kb: 1\n${esc}1A\r${esc}2Kb: done\n`,
    'a: 2\nb: done\n',
  ],
  ['tqdm, nested', `outer 0\ninner 0${esc}A\n\rinner 1${esc}A\router 1\n\n`, 'outer 1\ninner 1\n'],
  ['yarn, lines removed', `➤ 1\n➤ 2\n${esc}1A${esc}K${esc}1A${esc}K➤ done\n`, '➤ done\n'],
  ['ink, everything below erased', `frame 1\nmore\n${esc}2F${esc}Jframe 2\n`, 'frame 2\n'],
  ['apt, with a saved position', `Reading\x1b7${esc}3;1H50 %\x1b8${esc}J ok\n`, 'Reading ok\n'],
  ['columns', `name:${esc}20Gvalue${esc}2Dxx\n`, 'name:              valxx\n'],
  [
    'a full screen in between',
    `before\n${esc}?1049h${esc}2J${esc}Heditor${esc}?1049lafter\n`,
    'before\nafter\n',
  ],
  ['a cleared screen', `one\ntwo\n${esc}2J${esc}Hthree\n`, 'three\n'],
  ['inserted and deleted characters', `10%${esc}3D${esc}1P${esc}3P99%${esc}3D${esc}1@1\n`, '199%\n'],
  ['inserted and deleted lines', `a\nb\nc\n${esc}2A${esc}Lnew\n${esc}M`, 'a\nnew\nc'],
  ['titles', 'a\x1b]0;title\x07b\n', 'ab\n'],
  [
    'hyperlinks of what is left, with their colours',
    `old\r${esc}31m\x1b]8;id=1;http://x\x07one\x1b]8;;\x1b\\${esc}0m two\n`,
    `${esc}31m\x1b]8;;http://x\x1b\\one\x1b]8;;\x1b\\${esc}0m two\n`,
  ],
  [
    'a hyperlink that does not end, with its line',
    '\x1b]8;;http://x\x1b\\a\nb\n',
    '\x1b]8;;http://x\x1b\\a\x1b]8;;\x1b\\\nb\n',
  ],
  ['a sequence that is cut off', `a\rb${esc}`, 'b'],
  ['a title that does not end, with its line', 'a\rb\x1b]0;title\nmore\n', 'b\nmore\n'],
  ['colours of what is left', `${esc}31mold${esc}0m\r${esc}32mnew${esc}0m!\n`, `${esc}32mnew${esc}0m!\n`],
  [
    'a colour by number and by parts',
    `\r${esc}38;5;208ma${esc}48;2;1;2;3mb\n`,
    `${esc}38;5;208ma${esc}0m${esc}38;5;208;48;2;1;2;3mb${esc}0m\n`,
  ],
  ['characters of several bytes', 'äöü 1/2\räöü 2/2\n', 'äöü 2/2\n'],
])('%s: only the last state is left', async (_name, output, expected) => {
  expect(await shown(output)).toBe(expected)
})

test('output that moves no cursor is returned unchanged: colours, tabs, line ends of Windows and trailing blanks too', async () => {
  for (const output of [`${esc}1;31mred${esc}0m \ttab  \n`, 'windows\r\nlines\r\n', 'a\0b\0c', '', 'no end'])
    expect(await terminalText(Buffer.from(output))).toMatchObject({
      bytes: Buffer.from(output),
      is_rewritten: false,
    })
  const line = fc.string({ unit: 'grapheme' }).filter(text => !/[\x00-\x1f\x7f]/.test(text))
  await fc.assert(
    fc.asyncProperty(fc.array(line), async lines => {
      const text = lines.join('\n')
      expect(await shown(text)).toBe(text)
      // The same text after a progress bar that is erased.
      expect(await shown(`1 %\r2 %\r${esc}K${text}`)).toBe(text)
    }),
  )
})

test('long rows of one character, and sequences that never end, are read once', async () => {
  const length = 1024 ** 2
  const returns = `${'\r'.repeat(length)}\n`
  expect(await terminalText(Buffer.from(returns))).toMatchObject({ is_rewritten: false })
  for (const text of ['\r', '\b', '\x1b', `${esc}`, '\x1b]', `${esc}1`, `${esc}?`])
    expect((await shown(`a${text.repeat(length / 4)}b`)).length).toBeLessThan(3)
  expect(await shown(`a\r${esc}${'1;'.repeat(length / 2)}mb`)).toBe('b')
})

test('a hyperlink whose text is interrupted in each character is shown as it was written', async () => {
  const link = `\x1b]8;;http://${'x'.repeat(2_000)}\x1b\\${'a'.repeat(1_000)}\x1b]8;;\x1b\\\r`
  const output = Buffer.from(`${link}${`b${esc}C`.repeat(500)}\n`)
  expect(await terminalText(output)).toMatchObject({ bytes: output, is_rewritten: false })
})

test('lines of any length and number are kept, and only the last hundred rows can still change', async () => {
  const long = 'x'.repeat(5_000)
  expect(await shown(`${long}\n1\r2\n${long}`)).toBe(`${long}\n2\n${long}`)
  const lines = Array.from({ length: 500 }, (_, n) => `line ${n}`)
  const [first, ...rest] = (await shown(`${lines.join('\n')}${esc}400A\rtop${esc}K`)).split('\n')
  expect([first, rest.length]).toEqual(['line 0', 499])
  expect(rest.indexOf('top')).toBe(399)
})

test('bytes that are not UTF-8 are kept, and binary output is not touched', async () => {
  const latin = Buffer.from('caf\xe9\r\xe9t\xe9\n', 'latin1')
  expect((await terminalText(latin)).bytes).toEqual(Buffer.from('\xe9t\xe9\xe9\n', 'latin1'))
  const binary = Buffer.from(Array.from({ length: 1_000 }, (_, n) => (n * 37) % 256))
  expect(await terminalText(binary)).toMatchObject({ bytes: binary, is_rewritten: false })
})

test('of two parts with a gap between them each is shown by itself', async () => {
  const [head, tail] = ['1 %\r2 %', '8 %\r9 %\ndone\n']
  const { bytes, gap } = await terminalText(Buffer.from(head + tail), head.length)
  expect([Buffer.from(bytes).toString(), gap]).toEqual(['2 %9 %\ndone\n', 3])
})

test('output whose sequences would cost far more than its size is shown as it was written', async () => {
  const output = Buffer.from(`${esc}1024Gx${esc}1K`.repeat(5_000))
  expect(await terminalText(output)).toMatchObject({ bytes: output, is_rewritten: false })
})
