import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openToolBox, type ToolBox } from './tool-box.ts'

let box: ToolBox

beforeAll(async () => {
  box = await openToolBox([{ name: 'KEY', value: 'kQ7wXz2mN9pLr4Ts' }])
})
afterAll(() => box[Symbol.asyncDispose]())

const SOURCE =
  'import { a } from "./a.ts"\n\nfunction first() {\n\treturn a + 1\n}\n\nfunction second() {\n\treturn a + 2\n}\n'
const latin1 = (text: string) => Buffer.from(text, 'latin1')

describe('an edit changes exactly what it names', () => {
  test.each([
    [
      'one line',
      SOURCE,
      { old: 'a + 1', new: 'a + 10' },
      SOURCE.replace('a + 1', 'a + 10'),
      '4: \treturn a + 10',
    ],
    ['lines into more lines', 'a\nb\nc\n', { old: 'b\n', new: 'x\ny\n' }, 'a\nx\ny\nc\n', '2: x\n3: y'],
    [
      'every occurrence',
      'a b\nc\na\n',
      { old: 'a', new: 'z', replace_all: true },
      'z b\nc\nz\n',
      '1: z b\n3: z',
    ],
    ['line endings of Windows', 'a\r\nb\r\n', { old: 'a\nb', new: 'x\ny' }, 'x\r\ny\r\n', '1: x\n2: y'],
    ['mixed line endings', 'a\r\nb\nc\n', { old: 'b', new: 'B' }, 'a\r\nB\nc\n', '2: B'],
    ['no line break at the end', 'a\nb', { old: 'b', new: 'c' }, 'a\nc', '2: c'],
    ['no line break at the end, which `old` has', 'a\nb', { old: 'b\n', new: 'c\n' }, 'a\nc', '2: c'],
    ['a byte order mark', '\ufeffa\n', { old: 'a', new: 'b' }, '\ufeffb\n', '1: \ufeffb'],
    ['other scripts', 'grün ✓ 🙂\n', { old: '✓', new: '✗' }, 'grün ✗ 🙂\n', '1: grün ✗ 🙂'],
    [
      'text in the form of a pattern',
      'a.*b $1\n',
      { old: '.*b $1', new: '$& \\1' },
      'a$& \\1\n',
      '1: a$& \\1',
    ],
    ['a removal', 'a\nb\nc\n', { old: 'b\n', new: '' }, 'a\nc\n', '2: c'],
    [
      'several edits',
      'a\nb\nc\n',
      {
        edits: [
          { old: 'c', new: 'C' },
          { old: 'a', new: 'A\nA' },
        ],
      },
      'A\nA\nb\nC\n',
      '1: A\n2: A\n4: C',
    ],
    [
      'an edit of an edit',
      'a\n',
      {
        edits: [
          { old: 'a', new: 'b' },
          { old: 'b', new: 'c' },
        ],
      },
      'c\n',
      '1: c',
    ],
  ])('%s', async (_name, before, input, after, changed) => {
    await box.write('file', before)
    const { status, output, text } = await box.call('edit', { path: 'file', ...input })
    expect({ status, content: await box.read('file') }).toEqual({
      status: 'ok',
      content: Buffer.from(after).toString('latin1'),
    })
    expect(text.split('\n').slice(1).join('\n')).toBe(changed)
    expect(text).toMatch(new RegExp(`^Edited file: ${output.replaced} replacements?\\.`))
  })

  test('bytes that are not UTF-8 stay as they are', async () => {
    await box.write('file', latin1('gr\xfcn\none\n\xff\xfe\n'))
    expect((await box.call('edit', { path: 'file', old: 'one', new: 'zwölf' })).status).toBe('ok')
    expect(await box.read('file')).toBe(`gr\xfcn\n${Buffer.from('zwölf').toString('latin1')}\n\xff\xfe\n`)
  })

  test('mode and links stay', async () => {
    await box.sh('echo old > script; chmod 750 script; ln -sf script link')
    await box.call('edit', { path: 'link', old: 'old', new: 'new' })
    expect(await box.sh('cat script; stat -c %a script; readlink link')).toBe('new\n750\nscript\n')
  })

  test('changes of many lines are counted, and the first and last of them are shown', async () => {
    await box.write('many', 'an e\n'.repeat(50_000))
    const { status, output, text } = await box.call('edit', {
      path: 'many',
      old: 'e',
      new: 'E',
      replace_all: true,
    })
    expect({ status, replaced: output.replaced }).toEqual({ status: 'ok', replaced: 50_000 })
    expect(await box.read('many')).toBe('an E\n'.repeat(50_000))
    expect(text).toContain('8: an E\n…\n49993: an E')
    await box.write('many', 'an e\nb\n'.repeat(50_000))
    const apart = await box.call('edit', { path: 'many', old: 'e', new: 'E', replace_all: true })
    expect(apart.text.split('\n').slice(-2)).toEqual(['119: an E', '…'])
  })

  test('a long change shows its first and last lines', async () => {
    await box.write('file', 'x\n')
    const { text } = await box.call('edit', {
      path: 'file',
      old: 'x',
      new: Array.from({ length: 100 }, (_, i) => `line ${i + 1}`).join('\n'),
    })
    expect(text.split('\n')).toHaveLength(1 + 8 + 1 + 8)
    expect(text).toContain('8: line 8\n…\n93: line 93')
  })
})

describe('an edit that cannot be applied changes nothing and explains why', () => {
  test.each([
    [
      'white space',
      { old: '    return a + 2', new: 'x' },
      ['The nearest lines, where line 8', '8: \treturn a + 2', '→return·a·+·2', '····return·a·+·2'],
    ],
    ['quotes', { old: "from './a.ts'", new: 'x' }, ['differs in quotes', '1: import { a } from "./a.ts"']],
    ['escapes', { old: 'from \\"./a.ts\\"', new: 'x' }, ['differs in escapes']],
    ['case', { old: 'Function First()', new: 'x' }, ['upper and lower case', '3: function first() {']],
    [
      'one wrong line of three',
      { old: 'function second() {\n\treturn a + 3\n}', new: 'x' },
      ['line 8 is the first that differs', '7: function second() {\n8: \treturn a + 2\n9: }'],
    ],
    ['nothing like it', { old: 'SELECT * FROM users', new: 'x' }, ['(10 lines), nor does anything like it']],
    ['an edit that was made already', { old: 'a + 0', new: 'a + 1' }, ['`new` occurs in line 4']],
    [
      'several occurrences',
      { old: 'return a', new: 'x' },
      ['occurs 2 times in source.ts, in lines 4, 8', 'replace_all'],
    ],
    [
      'the second of two edits',
      {
        edits: [
          { old: 'a + 1', new: 'b' },
          { old: 'nowhere at all', new: 'c' },
        ],
      },
      ['Edit 2 of 2, so nothing was changed'],
    ],
    ['the same text', { old: 'a', new: 'a' }, ['are the same']],
    ['neither', {}, ['give either `old` and `new`, or `edits`']],
    [
      'both',
      { old: 'a', new: 'b', edits: [{ old: 'a', new: 'b' }] },
      ['give either `old` and `new`, or `edits`'],
    ],
    ['no `new`', { old: 'a' }, ['give either `old` and `new`, or `edits`']],
    ['no edit', { edits: [] }, ['edits: ']],
    ['a wrong type', { old: 7, new: 'x' }, ['old: ']],
    ['a text that is too long', { old: 'x'.repeat(100_001), new: 'x' }, ['old: ', '100000']],
    ['a replacement that is too long', { old: 'a + 1', new: 'x'.repeat(500_001) }, ['new: ', '500000']],
    ['NUL in the path', { path: 'source.ts\0x', old: 'a + 1', new: 'x' }, ['path: must not contain NUL']],
    [
      'too many occurrences for a file',
      { old: ' ', new: 'x'.repeat(490_000), replace_all: true },
      ['source.ts', 'Use a command'],
    ],
    ['a placeholder', { old: 'a + 1', new: '[redacted:KEY]' }, ['hidden from you']],
  ])('%s', async (_name, input, expected) => {
    await box.write('source.ts', SOURCE)
    const { status, text } = await box.call('edit', { path: 'source.ts', ...input })
    expect(status).toBe('error')
    for (const part of expected) expect(text).toContain(part)
    expect(await box.read('source.ts')).toBe(SOURCE)
  })

  test('a text that occurs everywhere in a file of 4 MB with one line', async () => {
    await box.write('line', 'e'.repeat(4_000_000))
    const { text } = await box.call('edit', { path: 'line', old: 'e', new: 'f' })
    expect(text).toContain('occurs more than 20 times in line, in lines 1, 1,')
    const all = await box.call('edit', { path: 'line', old: 'ee', new: 'f', replace_all: true })
    expect(all.text).toContain('occurs more than 100000 times')
  })

  test('a secret near the text is hidden', async () => {
    await box.write('source.ts', 'const key = "kQ7wXz2mN9pLr4Ts"\nconst other = 1\n')
    expect(
      (await box.call('edit', { path: 'source.ts', old: "const key = 'x'\nconst other = 1", new: 'x' })).text,
    ).not.toContain('kQ7')
    expect(
      (await box.call('edit', { path: 'source.ts', old: 'const key', new: 'const KEY' })).text,
    ).toContain('1: const KEY = "[redacted:KEY]"')
  })

  test('files that cannot be edited are named: missing, a folder, binary, read-only, running, too large', async () => {
    await box.sh(
      'mkdir -p folder; printf "a\\0b" > binary; cp /bin/sleep running; (./running 300 >/dev/null 2>&1 &); head -c 5000000 /dev/zero | tr "\\\\0" a > large',
    )
    for (const [path, why] of [
      ['missing', 'does not exist'],
      ['folder', 'is a directory'],
      ['binary', 'is a binary file'],
      ['/etc/passwd', 'Read-only file system'],
      ['large', 'larger than'],
    ] as const) {
      const { status, text } = await box.call('edit', { path, old: 'a', new: 'b', replace_all: true })
      expect({ path, status, text }).toEqual({ path, status: 'error', text: expect.stringContaining(why) })
    }
    expect((await box.call('write', { path: 'running', content: 'x' })).text).toContain('Text file busy')
  })

  test('a lock of another process does not make an edit wait', async () => {
    await box.write('locked', 'a\n')
    await box.sh('(flock -x locked sleep 300 >/dev/null 2>&1 &)')
    expect((await box.call('edit', { path: 'locked', old: 'a', new: 'b' })).status).toBe('ok')
    expect(await box.read('locked')).toBe('b\n')
  })
})
