import { describe, expect, test } from 'vitest'
import { PatchError, parsePatch } from './patch-format.ts'

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')

test('reads a patch that adds, moves, changes and deletes at once', () => {
  const text = patch(
    ...[
      '*** Add File: new/a.txt',
      '+one',
      '+',
      '+*** End Patch',
      '*** Update File: b.ts',
      '*** Move to: c.ts',
      '@@ class B',
      '@@ run()',
    ],
    ...[' keep', '-old', '+new', '', '@@', '+last', '*** End of File', '*** Delete File: d.txt'],
  )
  expect(parsePatch(text)).toEqual([
    { kind: 'add', path: 'new/a.txt', line: 2, content: ['one', '', '*** End Patch'] },
    {
      kind: 'update',
      path: 'b.ts',
      line: 6,
      move_to: 'c.ts',
      hunks: [
        {
          line: 8,
          anchors: ['class B', 'run()'],
          at_end: false,
          lines: [
            { sign: ' ', text: 'keep' },
            { sign: '-', text: 'old' },
            { sign: '+', text: 'new' },
            { sign: ' ', text: '' },
          ],
        },
        { line: 14, anchors: [], at_end: true, lines: [{ sign: '+', text: 'last' }] },
      ],
    },
    { kind: 'delete', path: 'd.txt', line: 17 },
  ])
})

describe('reads what models write around patches', () => {
  test.each([
    ['text around it', `Here it is:\n${patch('*** Delete File: a')}Done.`],
    ['a fence', `\`\`\`\n${patch('*** Delete File: a')}\`\`\``],
    ['white space around its lines', patch('  *** Delete File: a  ').replaceAll('***', ' ***')],
    ['lines of Windows', patch('*** Delete File: a').replaceAll('\n', '\r\n')],
    ['blank lines between its parts', patch('', '*** Delete File: a', '', '')],
    ['no last line break', patch('*** Delete File: a').trimEnd()],
  ])('%s', (_name, text) => {
    expect(parsePatch(text)).toMatchObject([{ kind: 'delete', path: 'a' }])
  })

  test('line numbers of a unified diff are ignored, the text after them is not', () => {
    const [update] = parsePatch(
      patch('*** Update File: a', '@@ -1,2 +1,2 @@ main()', '-a', '+b', '@@ -9 +9 @@', '-c'),
    )
    expect(update).toMatchObject({ hunks: [{ anchors: ['main()'] }, { anchors: [] }] })
  })

  test('a blank line before the next file is none of the hunk, but a line of context with a space is', () => {
    const [first, second] = parsePatch(
      patch('*** Update File: a', '-a', ' ', '', '*** Update File: b', '-b', ''),
    )
    expect([first, second].map(one => one?.kind === 'update' && one.hunks[0]?.lines.length)).toEqual([2, 1])
  })
})

test.each([
  ['', /does not start with "\*\*\* Begin Patch"/],
  ['*** Update File: a\n-a\n', /does not start/],
  ['*** Begin Patch\n*** Delete File: a\n', /does not end with "\*\*\* End Patch": it is incomplete/],
  [patch(), /changes no file/],
  [patch('*** Rename File: a'), /^Line 2 of the patch is "\*\*\* Rename File: a"; expected/],
  [patch('*** Update File: a'), /^Line 2 of the patch: the update of a has no hunk/],
  [
    patch('*** Update File: a', '@@', '*** Delete File: b'),
    /^Line 4 of the patch, in the update of a, is "\*\*\* Delete File: b"/,
  ],
  [
    patch('*** Update File: a', '-a', 'b'),
    /^Line 4 of the patch, in the update of a, is "b"; a line of a hunk starts with/,
  ],
  [patch('*** Add File: a', 'no plus'), /^Line 3 of the patch is "no plus"/],
  [
    patch(`*** Delete File: ${'x'.repeat(5_000)}`),
    /^Line 2 of the patch: the path has more than 4096 characters/,
  ],
  [
    patch('*** Update File: a', `*** Move to: ${'x'.repeat(5_000)}`, '-a'),
    /^Line 3 of the patch: the path has more than 4096 characters/,
  ],
])('%j is an error that names the line', (text, message) => {
  expect(() => parsePatch(text)).toThrow(PatchError)
  expect(() => parsePatch(text)).toThrow(message)
})

test.each([
  ['files', Array.from({ length: 1_001 }, (_, i) => `*** Delete File: ${i}`)],
  ['hunks', ['*** Update File: a', '@@\n-a\n'.repeat(500_000)]],
  ['anchors', ['*** Update File: a', ...Array.from({ length: 1_000 }, () => '@@ a'), '-a']],
])('a patch with more than a thousand %s is refused, with the line', (_name, lines) => {
  expect(() => parsePatch(patch(...lines))).toThrow(
    /^Line \d+ of the patch: more than 1000 files, hunks and @@ lines\. Send several/,
  )
})
