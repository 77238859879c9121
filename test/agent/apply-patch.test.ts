import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openToolBox, type ToolBox } from './tool-box.ts'

let box: ToolBox

beforeAll(async () => {
  box = await openToolBox([{ name: 'KEY', value: 'kQ7wXz2mN9pLr4Ts' }])
})
afterAll(() => box[Symbol.asyncDispose]())
beforeEach(async () => {
  await box.sh('find . -mindepth 1 -delete')
})

const apply = (...lines: string[]) =>
  box.call('apply_patch', { patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })
/** All files with their contents. */
const tree = async () => {
  const paths = (await box.sh('find . -type f | sort')).split('\n').filter(path => path !== '')
  return Object.fromEntries(
    await Promise.all(paths.map(async path => [path.slice(2), await box.read(path)] as const)),
  )
}

describe('a hunk changes exactly its lines', () => {
  test.each([
    ['one line with context', 'a\nb\nc\n', [' a', '-b', '+B', ' c'], 'a\nB\nc\n'],
    ['without context', 'a\nb\nc\n', ['@@', '-b', '+B'], 'a\nB\nc\n'],
    ['a removal', 'a\nb\nc\n', ['-b'], 'a\nc\n'],
    ['several hunks in their order', 'a\nb\nc\nd\n', ['@@', '-a', '+A', '@@', '-d', '+D'], 'A\nb\nc\nD\n'],
    ['the same lines after an anchor', 'f()\n x\ng()\n x\n', ['@@ g()', '- x', '+ y'], 'f()\n x\ng()\n y\n'],
    [
      'after two anchors',
      'class A\n run\n  x\nclass B\n run\n  x\n',
      ['@@ class B', '@@ run', '-  x', '+  y'],
      'class A\n run\n  x\nclass B\n run\n  y\n',
    ],
    ['the end of the file', 'x\na\nx\n', ['@@', '-x', '+y', '*** End of File'], 'x\na\ny\n'],
    ['an addition at the end', 'a\n', ['@@', '+b'], 'a\nb\n'],
    ['an addition after an anchor', 'f()\ng()\n', ['@@ f()', '+x'], 'f()\nx\ng()\n'],
    ['lines of Windows', 'a\r\nb\r\nc\r\n', [' a', '-b', '+B', '+B2', ' c'], 'a\r\nB\r\nB2\r\nc\r\n'],
    ['mixed line endings', 'a\r\nb\nc\n', ['-b', '+B'], 'a\r\nB\nc\n'],
    ['no line break at the end', 'a\nb', ['-b', '+B'], 'a\nB'],
    ['an addition without a line break at the end', 'a\nb', [' b', '+c'], 'a\nb\nc'],
    ['a removal of the last line without a line break', 'a\nb', [' a', '-b'], 'a'],
    ['context that differs in white space stays as it is', '\ta\nb\n', ['     a ', '-b', '+B'], '\ta\nB\n'],
    [
      'context with typographic quotes stays as it is',
      'it\u2019s\nb\n',
      [" it's", '-b', '+B'],
      'it\u2019s\nB\n',
    ],
    ['an exact match before one that is alike', ' x\nx\n', ['-x', '+y'], ' x\ny\n'],
    ['an empty line as context', 'a\n\nb\n', [' a', '', '-b', '+B'], 'a\n\nB\n'],
    ['an empty file', '', ['@@', '+a'], 'a\n'],
    ['everything', 'a\nb\n', ['-a', '-b'], ''],
    ['other scripts', 'grün\n✓\n', [' grün', '-✓', '+✗'], 'grün\n✗\n'],
  ])('%s', async (_name, before, lines, after) => {
    await box.write('file', before)
    const { status, text } = await apply('*** Update File: file', ...lines)
    expect({ status, text }).toEqual({ status: 'ok', text: 'Applied the patch:\nM file' })
    expect(await box.read('file')).toBe(Buffer.from(after).toString('latin1'))
  })

  test('bytes that are not UTF-8 stay as they are', async () => {
    await box.write('file', Buffer.from('gr\xfcn\na\n', 'latin1'))
    await apply('*** Update File: file', '-a', '+b')
    expect(await box.read('file')).toBe('gr\xfcn\nb\n')
  })
})

test('one patch moves, deletes, adds and changes files at once', async () => {
  await box.sh(
    'mkdir old; printf "a\\nb\\n" > old/run.sh; chmod 755 old/run.sh; echo x > gone; echo y > kept; printf "\\0" > image.png',
  )
  const { output, text } = await apply(
    ...[
      '*** Update File: old/run.sh',
      '*** Move to: new/deep/run.sh',
      '-b',
      '+B',
      '*** Delete File: gone',
      '*** Add File: docs/new.md',
      '+# New',
    ],
    ...['*** Update File: kept', '-y', '+Y', '*** Update File: image.png', '*** Move to: pictures/image.png'],
  )
  expect(text).toBe(
    'Applied the patch:\nR old/run.sh -> new/deep/run.sh\nD gone\nA docs/new.md\nM kept\nR image.png -> pictures/image.png',
  )
  expect(output.files).toHaveLength(5)
  expect(await tree()).toEqual({
    'docs/new.md': '# New\n',
    kept: 'Y\n',
    'new/deep/run.sh': 'a\nB\n',
    'pictures/image.png': '\0',
  })
  expect(await box.sh('stat -c %a new/deep/run.sh')).toBe('755\n')
})

test('parts of a patch see what earlier parts did', async () => {
  await box.write('a', 'one\n')
  const { status } = await apply(
    ...['*** Update File: a', '*** Move to: b', '-one', '+two', '*** Update File: b', '-two', '+three'],
    ...[
      '*** Add File: c',
      '+x',
      '*** Update File: c',
      '-x',
      '+y',
      '*** Add File: d',
      '+d',
      '*** Delete File: d',
      '*** Add File: a',
      '+again',
    ],
  )
  expect(status).toBe('ok')
  expect(await tree()).toEqual({ a: 'again\n', b: 'three\n', c: 'y\n' })
})

test('names of the same file are one file, so each hunk counts', async () => {
  await box.sh('mkdir b; printf "one\\ntwo\\nthree\\nfour\\n" > a')
  const { text } = await apply(
    ...['*** Update File: a', '-one', '+1', '*** Update File: ./a', '-two', '+2'],
    ...[
      '*** Update File: /workspace/a',
      '-three',
      '+3',
      '*** Update File: b/../a',
      '*** Move to: .//c',
      '-four',
      '+4',
    ],
  )
  expect(text).toBe('Applied the patch:\nM a\nM a\nM a\nR a -> c')
  expect(await tree()).toEqual({ c: '1\n2\n3\n4\n' })
})

describe('a patch that changes one file by two names, one of them a link, is refused, so that no change is lost', () => {
  test.each([
    [
      'both updated',
      ['*** Update File: target', '-1', '+one', '*** Update File: link', '-2', '+two'],
      'target and link',
    ],
    [
      'deleted and updated',
      ['*** Delete File: target', '*** Update File: link', '-1', '+one'],
      'target and link',
    ],
    [
      'moved to its own link',
      ['*** Update File: target', '*** Move to: link', '-1', '+one'],
      'target and link',
    ],
    [
      'in a linked folder',
      ['*** Update File: d/a', '-a', '+b', '*** Update File: folder/a', '-a', '+c'],
      'd/a and folder/a',
    ],
    [
      'added in a linked folder',
      ['*** Add File: d/new', '+b', '*** Add File: folder/new', '+c'],
      'd/new and folder/new',
    ],
    [
      'hard links',
      ['*** Update File: target', '-1', '+one', '*** Update File: hard', '-2', '+two'],
      'target and hard',
    ],
  ])('%s', async (_name, lines, names) => {
    await box.sh(
      'printf "1\\n2\\n" > target; ln -s target link; ln target hard; mkdir d; echo a > d/a; ln -s d folder',
    )
    const before = await tree()
    const { status, text } = await apply(...lines)
    expect({ status, text }).toEqual({
      status: 'error',
      text: expect.stringContaining(`${names} are the same file.`),
    })
    expect(await tree()).toEqual(before)
  })

  test('a link can be deleted while its file is changed, and files of the same name in new folders are different', async () => {
    await box.sh('printf "1\\n" > target; ln -s target link')
    const { text } = await apply(
      ...[
        '*** Delete File: link',
        '*** Update File: target',
        '-1',
        '+one',
        '*** Add File: x/a',
        '+x',
        '*** Add File: y/a',
        '+y',
      ],
    )
    expect(text).toBe('Applied the patch:\nD link\nM target\nA x/a\nA y/a')
    expect(await tree()).toEqual({ target: 'one\n', 'x/a': 'x\n', 'y/a': 'y\n' })
  })
})

test('an added file replaces one that exists, and a move its destination', async () => {
  await box.sh('echo old > a; echo b > b; echo c > c')
  const { text } = await apply('*** Add File: a', '+new', '*** Update File: b', '*** Move to: c', '-b', '+B')
  expect(text).toBe('Applied the patch:\nM a\nR b -> c')
  expect(await tree()).toEqual({ a: 'new\n', c: 'B\n' })
})

describe('a patch that does not apply changes nothing, and its message names the location and the reason', () => {
  const FIRST = ['*** Add File: new', '+x', '*** Delete File: gone', '*** Update File: ok', '-ok', '+OK']
  test.each([
    [
      'a hunk that does not match',
      ['*** Update File: file', '@@', '-a', '+A', '@@', ' b', '-\tcc', '+d'],
      ['Hunk 2 of 2 for file (line 12 of the patch)', 'line 3 is the first that differs', '3: c'],
    ],
    [
      'a hunk that comes too early',
      ['*** Update File: file', '@@', '-b', '@@', '-a'],
      ['Hunk 2 of 2 for file'],
    ],
    [
      'an anchor that is not there',
      ['*** Update File: file', '@@ nowhere', '-a'],
      ['No line after the hunk before is `nowhere`'],
    ],
    [
      'lines that are nothing like the file',
      ['*** Update File: file', '-SELECT * FROM users'],
      ['has nothing like the lines'],
    ],
    [
      'white space inside a line',
      ['*** Update File: spaced', '-if  (a)'],
      ['white space', '`if·(a)`', '`if··(a)`'],
    ],
    ['a missing file', ['*** Update File: missing', '-a'], ['missing does not exist (line 8 of the patch)']],
    ['a missing file to delete', ['*** Delete File: missing'], ['missing does not exist']],
    ['a folder', ['*** Delete File: folder'], ['folder is a directory']],
    ['a binary file', ['*** Update File: binary', '-a'], ['binary is a binary file']],
    ['a read-only file', ['*** Add File: /usr/bin/x', '+x'], ['Read-only file system']],
    [
      'a file outside of the workspace',
      ['*** Add File: ../usr/bin/x', '+x'],
      ['/usr/bin/x', 'Read-only file system'],
    ],
    ['a folder in the way', ['*** Add File: file/below', '+x'], ['file/below']],
    ['an invalid line', ['*** Update File: file', 'a'], ['Line 9 of the patch']],
    ['a placeholder', ['*** Update File: file', '-a', '+[redacted:KEY]'], ['hidden from you']],
    ['a running program', ['*** Add File: running', '+x'], ['Text file busy']],
    ['a file in a folder that cannot be written', ['*** Delete File: closed/file'], ['Permission denied']],
  ])('%s', async (_name, lines, expected) => {
    await box.sh(
      'echo gone > gone; echo ok > ok; printf "a\\nb\\nc\\n" > file; echo "if (a)" > spaced; mkdir folder closed; printf "a\\0" > binary; echo c > closed/file; chmod 500 closed; cp /bin/sleep running; (./running 300 >/dev/null 2>&1 & echo $! > pid)',
    )
    const before = await tree()
    const { status, text, result } = await apply(...FIRST, ...lines)
    const after = await tree()
    await box.sh('chmod 700 closed; kill $(cat pid) || true')
    expect(status).toBe('error')
    expect(result.error).toBeUndefined()
    for (const part of expected) expect(text).toContain(part)
    expect(after).toEqual(before)
  })

  test('NUL in a path is refused, so that no other file is changed', async () => {
    await box.write('x', 'a\n')
    expect((await apply('*** Delete File: x\0y')).text).toContain('patch: must not contain NUL')
    expect(await tree()).toEqual({ x: 'a\n' })
  })

  test('a patch that was cut off is refused as a whole', async () => {
    await box.write('file', 'a\n')
    const { text } = await box.call('apply_patch', {
      patch: '*** Begin Patch\n*** Update File: file\n-a\n+b\n',
    })
    expect(text).toContain('it is incomplete')
    expect(await tree()).toEqual({ file: 'a\n' })
  })

  test('a secret near a hunk is hidden', async () => {
    await box.write('file', 'key = "kQ7wXz2mN9pLr4Ts"\nother = 1\n')
    const { text } = await apply('*** Update File: file', "-key = 'x'", '-other = 2')
    expect(text).toContain('[redacted:KEY]')
    expect(text).not.toContain('kQ7')
  })
})
