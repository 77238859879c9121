import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { searchCommand } from '../../src/agent/tools/search-command.ts'
import { foundLines } from '../../src/agent/tools/search-lines.ts'
import { composed } from '../../src/redaction/port.ts'
import { openToolBox, type ToolBox } from './tool-box.ts'

let box: ToolBox

const FILES: Record<string, string> = {
  '.gitignore': 'node_modules/\n*.log\nbuilt/\n',
  '.github/ci.yml': 'on: push # 12\n',
  'README.md': '# Title 12\n\nCall foo(bar) or `foo(baz)`.\n',
  'src/a.ts': 'export const one = 1\nexport const two = 12\nfunction foo(bar: string) {}\n',
  'src/b.tsx': 'const b = <a href="x">12</a>\n',
  'src/deep/c.ts': 'before\nMatch 12\nafter\nend\n',
  'src/deep/d.js': 'var d = 12\n',
  'src/windows.txt': 'first\r\nlast word\r\n',
  'test/a.test.ts': 'expect(12)\n',
  'we ird/x:y 1.txt': 'twelve 12\n',
  'debug.log': 'ignored 12\n',
  'built/out.ts': 'ignored 12\n',
  'node_modules/x/index.ts': 'ignored 12\n',
}

beforeAll(async () => {
  box = await openToolBox([{ name: 'KEY', value: 'kQ7wXz2mN9pLr4Ts' }])
  for (const [path, content] of Object.entries(FILES)) await box.write(path, content)
  await box.write('latin1.txt', Buffer.from('gr\xfcn 12\n', 'latin1'))
  await box.sh(
    `printf '\\0binary 12\\n' > data.bin; git init -q .; git add README.md src; git -c user.name=a -c user.email=a@b commit -qm a`,
  )
})
afterAll(() => box[Symbol.asyncDispose]())

const files = async (input: Record<string, unknown>) =>
  String((await box.call('search', { files_only: true, ...input })).text).split('\n')

describe('which files are searched', () => {
  const ALL = [
    '.github/ci.yml',
    'README.md',
    'latin1.txt',
    'src/a.ts',
    'src/b.tsx',
    'src/deep/c.ts',
    'src/deep/d.js',
    'test/a.test.ts',
    'we ird/x:y 1.txt',
  ]
  test.each([
    ['all, without ignored and binary ones', {}, ALL],
    ['*.ts', { glob: '*.ts' }, ['src/a.ts', 'src/deep/c.ts', 'test/a.test.ts']],
    ['**/*.ts', { glob: '**/*.ts' }, ['src/a.ts', 'src/deep/c.ts', 'test/a.test.ts']],
    ['src/*.ts', { glob: 'src/*.ts' }, ['src/a.ts']],
    ['/src/*.ts', { glob: '/src/*.ts' }, ['src/a.ts']],
    ['/workspace/src/*.ts', { glob: '/workspace/src/*.ts' }, ['src/a.ts']],
    ['src/**', { glob: 'src/**' }, ['src/a.ts', 'src/b.tsx', 'src/deep/c.ts', 'src/deep/d.js']],
    ['*.{ts,tsx}', { glob: '*.{ts,tsx}' }, ['src/a.ts', 'src/b.tsx', 'src/deep/c.ts', 'test/a.test.ts']],
    ['src/**/*.{js,tsx}', { glob: 'src/**/*.{js,tsx}' }, ['src/b.tsx', 'src/deep/d.js']],
    ['!*.ts', { glob: '!*.ts' }, ALL.filter(path => !path.endsWith('.ts'))],
    ['!test/**', { glob: '!test/**' }, ALL.filter(path => !path.startsWith('test/'))],
    ['a glob of hidden files', { glob: '.github/*.yml' }, ['.github/ci.yml']],
    ['a glob that ignored files match', { glob: '*.log' }, ['No matches.']],
    ['**', { glob: '**' }, ALL],
    ['a name with spaces and a colon', { glob: '*y 1.txt' }, ['we ird/x:y 1.txt']],
    ['a folder', { path: 'src/deep' }, ['src/deep/c.ts', 'src/deep/d.js']],
    ['a folder with a glob below it', { path: 'src', glob: '*.ts' }, ['src/a.ts', 'src/deep/c.ts']],
    ['a folder with a glob from the workspace', { path: 'src', glob: 'src/*.ts' }, ['src/a.ts']],
    [
      'a folder with a glob from the folder',
      { path: 'src', glob: 'deep/*' },
      ['src/deep/c.ts', 'src/deep/d.js'],
    ],
    ['an absolute folder', { path: '/workspace/src', glob: '*.tsx' }, ['/workspace/src/b.tsx']],
    ['one file', { path: 'src/a.ts' }, ['src/a.ts']],
    ['an ignored folder that is named', { path: 'node_modules' }, ['node_modules/x/index.ts']],
    ['a folder with a slash at its end', { path: 'test/' }, ['test/a.test.ts']],
  ])('%s', async (_name, input, expected) => {
    expect(await files({ pattern: '12', ...input })).toEqual(expected)
  })
})

describe('what is found', () => {
  test.each([
    ['digits', { pattern: '\\d\\d', path: 'src/a.ts' }, 'src/a.ts:2:export const two = 12'],
    ['word boundaries', { pattern: '\\btwo\\b' }, 'src/a.ts:2:export const two = 12'],
    ['a word class', { pattern: 'foo\\(\\w+\\)' }, 'README.md:3:Call foo(bar) or `foo(baz)`.'],
    ['alternatives', { pattern: 'first|(Mat)ch' }, 'src/deep/c.ts:2:Match 12\nsrc/windows.txt:1:first'],
    ['lookbehind', { pattern: '(?<=const )two' }, 'src/a.ts:2:export const two = 12'],
    ['lookahead', { pattern: 'foo(?!\\(baz)\\(bar:' }, 'src/a.ts:3:function foo(bar: string) {}'],
    ['a back-reference', { pattern: '(o)\\1\\(bar:' }, 'src/a.ts:3:function foo(bar: string) {}'],
    ['several lines', { pattern: 'Match 12\\nafter' }, 'src/deep/c.ts:2:Match 12\nsrc/deep/c.ts:3:after'],
    ['the end of a line of Windows', { pattern: 'first$' }, 'src/windows.txt:1:first'],
    ['a start with a dash', { pattern: '-12' }, 'No matches.'],
    ['quotes and shell syntax', { pattern: `'; touch pwned; echo "$(x)` }, 'No matches.'],
    ['exact case', { pattern: 'match' }, 'No matches.'],
    ['any case', { pattern: 'MATCH', ignore_case: true }, 'src/deep/c.ts:2:Match 12'],
    ['any case of other scripts', { pattern: 'TITLE 12', ignore_case: true }, 'README.md:1:# Title 12'],
    [
      'lines around',
      { pattern: 'Match', context: 1 },
      'src/deep/c.ts-1-before\nsrc/deep/c.ts:2:Match 12\nsrc/deep/c.ts-3-after',
    ],
    [
      'several groups',
      { pattern: 'Title|one = 1', context: 1, glob: '*.{md,ts}' },
      'README.md:1:# Title 12\nREADME.md-2-\n--\nsrc/a.ts:1:export const one = 1\nsrc/a.ts-2-export const two = 12',
    ],
    ['text that is not UTF-8', { pattern: 'gr.n 12', path: 'latin1.txt' }, 'No matches.'],
    ['nothing', { pattern: 'nowhere at all' }, 'No matches.'],
  ])('%s', async (_name, input, expected) => {
    const { status, text } = await box.call('search', input)
    expect({ status, text }).toEqual({ status: 'ok', text: expected })
  })

  test('counts matches, not lines of context', async () => {
    const { output } = await box.call('search', { pattern: '12', path: 'src', context: 2 })
    expect(output).toMatchObject({ count: 4, total: 4, truncated: false })
  })

  test('no file is created or changed by a pattern, a path or a glob', async () => {
    await box.call('search', { pattern: '$(touch pwned)', glob: '`touch pwned`', path: '.' })
    expect(await box.sh('ls -A pwned 2>&1 || true')).toContain('No such file')
  })
})

describe('an error names the mistake', () => {
  test.each([
    [
      'an open group',
      { pattern: 'foo(bar' },
      'Error: Invalid pattern: missing closing parenthesis at position 8, after "foo(bar".',
    ],
    ['an open class', { pattern: 'a[z' }, /^Error: Invalid pattern: .* at position 4, after "a\[z"\.$/],
    [
      'a range out of order',
      { pattern: 'a[z-a]' },
      /^Error: Invalid pattern: .* at position 5, after "a\[z-"\.$/,
    ],
    ['nothing to repeat', { pattern: '*a' }, /^Error: Invalid pattern: .* at position 1, after ""\.$/],
    [
      'other characters before it',
      { pattern: 'grün(' },
      /^Error: Invalid pattern: .* at position 6, after "grün\("\.$/,
    ],
    ['a closing parenthesis', { pattern: 'a)b' }, /^Error: Invalid pattern: .* at position 2, after "a"\.$/],
    ['NUL in the pattern', { pattern: 'a\0b' }, 'pattern: must not contain NUL'],
    ['NUL in the path', { pattern: 'a', path: 'src\0b' }, 'path: must not contain NUL'],
    ['NUL in the glob', { pattern: 'a', glob: '*.ts\0b' }, 'glob: must not contain NUL'],
    ['a missing path', { pattern: 'a', path: 'nowhere' }, 'Error: nowhere does not exist.'],
    ['an open brace in a glob', { pattern: 'a', glob: '*.{ts' }, 'Error: Invalid glob *.{ts: a { has no }.'],
    [
      'a wrong type',
      { pattern: 'a', context: 'two' },
      /^Error: The arguments of search are invalid: context: /,
    ],
  ])('%s', async (_name, input, expected) => {
    const { status, text } = await box.call('search', input)
    expect(status).toBe('error')
    expect(text).toMatch(expected)
  })
})

describe('what may never end is not searched', () => {
  const SPECIAL = `mkdir -p special/real && cd special && rm -f pipe socket link device && echo needle > real/file && mkfifo pipe &&
ln -s pipe link && ln -s /dev/zero device && python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('socket')"`

  test.each(['special/pipe', 'special/link', 'special/device', 'special/socket', '/dev/zero', '/dev/null'])(
    '%s is refused',
    async path => {
      await box.sh(SPECIAL)
      const { status, text } = await box.call('search', { pattern: 'needle', path })
      expect({ status, text }).toEqual({ status: 'error', text: `Error: ${path} is not a regular file.` })
    },
  )

  test.each(['special/pages', 'special/kernel', '/proc/self/pagemap', '/proc', '/', '..', '../proc/self'])(
    '%s is refused, because the kernel has files that never end',
    async path => {
      await box.sh(
        'mkdir -p special && ln -sfn /proc/self/pagemap special/pages && ln -sfn /proc special/kernel',
      )
      for (const glob of [undefined, '**']) {
        const { status, text } = await box.call('search', { pattern: 'needle', path, ...(glob && { glob }) })
        expect({ status, text }).toEqual({
          status: 'error',
          text: `Error: ${path} is or contains files of the kernel, which may never end. Name a folder of files.`,
        })
      }
    },
  )

  test.each([
    ['a folder', { path: 'special' }],
    ['a folder with a glob', { path: 'special', glob: '**' }],
    ['a folder without ripgrep', { path: 'special', without_ripgrep: true }],
    ['a folder with a glob, without ripgrep', { path: 'special', glob: '**', without_ripgrep: true }],
  ])('%s has them skipped', async (_name, { without_ripgrep, ...input }: Record<string, unknown>) => {
    await box.sh(SPECIAL)
    const search = { pattern: 'needle', files_only: true, ...input }
    const command = searchCommand(search, { max_lines: 100, max_bytes: 10_000 })
    const printed = await box.sh(
      without_ripgrep === true ? command.replaceAll('/run/init/rg', '/nowhere') : command,
    )
    expect(printed.replace(/\0[^\n]*/g, '')).toBe('special/real/file\n')
  })
})

test('catastrophic backtracking ends: at once without lookaround, at a limit with it', async () => {
  await box.write('evil.txt', `x${'a'.repeat(5_000)}b\nplain\n`)
  expect((await box.call('search', { pattern: 'x(a+)+$', path: 'evil.txt' })).text).toBe('No matches.')
  const { status, text } = await box.call('search', { pattern: '(?=x)x(a+)+$', path: 'evil.txt' })
  expect({ status, text }).toEqual({ status: 'error', text: expect.stringContaining('match limit exceeded') })
})

test('many matches are cut at the stated limit, and the result has their number', async () => {
  await box.sh('mkdir many && seq 1 3000 | sed s/^/match/ > many/list')
  const { output, text, result } = await box.call('search', { pattern: 'match', path: 'many' })
  expect(output).toMatchObject({ count: 400, total: 3_000, truncated: true })
  expect(text.split('\n').slice(398)).toEqual([
    'many/list:399:match399',
    'many/list:400:match400',
    '[Showing the first 400 of 3000 matches. Narrow the pattern, path or glob.]',
  ])
  expect(
    Buffer.from(result.whole?.bytes ?? [])
      .toString()
      .split('\n'),
  ).toHaveLength(3_000)
  await box.sh('seq 1 200000 > many/list')
  expect((await box.call('search', { pattern: '\\d', path: 'many' })).text).toMatch(
    /\[Showing the first 400 matches\. /,
  )
})

describe('a long line shows the part around its first match, with its position', () => {
  test.each([
    ['far from both ends', 3_000, 3_000, 6_006, 3_001, /^…a{100}NEEDLEb{394}$/],
    ['in a line of 5 MB', 2_500_000, 2_500_000, 5_000_006, 2_500_001, /^…a{100}NEEDLEb{394}$/],
    ['at the start', 0, 3_000, 3_006, 1, /^NEEDLEb{494}$/],
    ['at the end', 3_000, 0, 3_006, 3_001, /^…a{494}NEEDLE$/],
    ['just beyond the limit', 300, 300, 606, 301, /^…a{100}NEEDLEb{300}$|^…a*NEEDLEb*$/],
  ])('%s', async (_name, before, after, bytes, at, expected) => {
    await box.sh(
      `mkdir -p long; (head -c ${before} /dev/zero | tr '\\0' a; printf NEEDLE; head -c ${after} /dev/zero | tr '\\0' b; echo) > long/line.txt`,
    )
    const { output, text, result } = await box.call('search', { pattern: 'NEEDLE', path: 'long' })
    const [, shown] =
      new RegExp(
        `^long/line\\.txt:1:(.*)… \\[line cut: it has ${bytes} bytes, its first match is at byte ${at}\\]$`,
      ).exec(text) ?? []
    expect(shown).toMatch(expected)
    expect(shown?.replace('…', '')).toHaveLength(500)
    expect(output).toMatchObject({ count: 1, total: 1, truncated: true, cut_lines: 1 })
    expect(result.truncated).toBe(true)
  })

  test('in whole characters', async () => {
    await box.write('long/line.txt', `${'ü'.repeat(2_000)}NEEDLE${'✓'.repeat(2_000)}\n`)
    const { text } = await box.call('search', { pattern: 'NEEDLE', path: 'long' })
    expect(text).toBe(
      `long/line.txt:1:…${'ü'.repeat(163)}NEEDLE${'✓'.repeat(331)}… [line cut: it has 10006 bytes, its first match is at byte 4001]`,
    )
  })

  test('with secrets hidden at both edges', async () => {
    const secret = 'kQ7wXz2mN9pLr4Ts'
    await box.write(
      'long/line.txt',
      `${'a'.repeat(3_000)}${secret}${'a'.repeat(90)}NEEDLE${'b'.repeat(385)}${secret}${'b'.repeat(3_000)}\n`,
    )
    const { text } = await box.call('search', { pattern: 'NEEDLE', path: 'long' })
    expect(text).toContain('NEEDLE')
    expect(text).not.toMatch(/kQ7|4Ts/)
  })

  test('and so does a line of context, without a match', async () => {
    await box.write('long/line.txt', `short NEEDLE\n${'c'.repeat(3_000)}\n`)
    const { text, output } = await box.call('search', { pattern: 'NEEDLE', path: 'long', context: 1 })
    expect(text).toBe(
      `long/line.txt:1:short NEEDLE\nlong/line.txt-2-${'c'.repeat(500)}… [line cut: it has 3000 bytes]`,
    )
    expect(output).toMatchObject({ count: 1, total: 1 })
  })
})

test('long lines are cut, and what the model reads stays below its limit', async () => {
  await box.sh(
    `mkdir wide; for i in $(seq 1 100); do head -c 100000 /dev/zero | tr '\\0' w; echo; done > wide/min.js`,
  )
  const { text, output } = await box.call('search', { pattern: 'w', path: 'wide' })
  expect(text.length).toBeLessThan(30_000)
  expect(output).toMatchObject({ total: 100, truncated: true })
})

test('a secret is hidden in matches and in errors', async () => {
  await box.write('.env', 'KEY=kQ7wXz2mN9pLr4Ts\n')
  expect((await box.call('search', { pattern: 'KEY=', path: '.env' })).text).toBe('.env:1:KEY=[redacted:KEY]')
  expect((await box.call('search', { pattern: 'kQ7wXz2mN9pLr4Ts(' })).text).not.toContain('kQ7wXz2mN9pLr4Ts')
})

test('the same search gives the same bytes', async () => {
  const [first, second] = [
    await box.call('search', { pattern: 'e' }),
    await box.call('search', { pattern: 'e' }),
  ]
  expect(second.text).toBe(first.text)
})

describe('without ripgrep, git finds the same', () => {
  const withoutRipgrep = (input: { pattern: string } & Record<string, unknown>) =>
    box.sh(
      searchCommand(input, { max_lines: 1_000, max_bytes: 100_000 }).replaceAll('/run/init/rg', '/nowhere'),
    )
  const matchesOf = async (printed: string) =>
    (await foundLines(Buffer.from(printed), 1_000_000, { bytes: async bytes => composed(bytes) })).lines.map(
      ({ text }) => text,
    )
  test.each([
    [{ pattern: '12', path: 'src' }],
    [{ pattern: '\\d\\d', glob: 'src/**/*.{ts,tsx}' }],
    [{ pattern: '12', path: 'src', glob: 'deep/*' }],
    [{ pattern: '12', path: 'src', glob: '!*.ts' }],
    [{ pattern: '(?<=const )TWO', path: 'src', ignore_case: true }],
    [{ pattern: 'Match', path: 'src', context: 1 }],
    [{ pattern: 'ignored', glob: '*.log' }],
    [{ pattern: 'names', path: 'names' }],
    [{ pattern: 'C:\\\\new', path: 'names' }],
    [{ pattern: 'NEEDLE', path: 'far' }],
  ])('%j', async input => {
    await box.sh(
      `mkdir -p names far; echo 'names C:\\new' > 'names/umläut "x".ts'; (head -c 3000 /dev/zero | tr '\\0' a; echo NEEDLE) > far/line`,
    )
    const { output } = await box.call('search', input)
    expect(await matchesOf(await withoutRipgrep(input))).toEqual(output.matches)
  })

  test('files only, and an invalid pattern', async () => {
    expect(
      (await withoutRipgrep({ pattern: '12', path: 'src/deep', files_only: true })).replace(/\0.*/g, ''),
    ).toBe('src/deep/c.ts\nsrc/deep/d.js\n')
    await expect(withoutRipgrep({ pattern: 'foo(bar' })).rejects.toThrow(
      "'foo(bar': missing closing parenthesis",
    )
  })

  test('except for patterns with line breaks, which are refused', async () => {
    await expect(withoutRipgrep({ pattern: 'Match 12\\nafter' })).rejects.toThrow(
      'a pattern matches within one line',
    )
  })
})
