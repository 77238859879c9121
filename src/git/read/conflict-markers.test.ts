import { expect, test } from 'vitest'
import { conflictMarkers } from './conflict-markers.ts'

const patch = (path: string, ...lines: string[]) =>
  [
    `diff --git a/${path} b/${path}`,
    'index 1..2 100644',
    `--- a/${path}`,
    `+++ b/${path}`,
    `@@ -1,2 +10,${lines.length} @@ in`,
    ...lines,
  ].join('\n')

test('a conflict is found where it begins, in the file that has it', () => {
  const conflict = patch(
    'a b.md',
    ' one',
    '-gone',
    '+<<<<<<< HEAD',
    '+ours',
    '+=======',
    '+theirs',
    '+>>>>>>> other',
  )
  expect(conflictMarkers(`${patch('c', '+x')}\n${conflict}\n${patch('d', '+>>>>>>> end')}`)).toEqual([
    { path: 'a b.md', line: 11 },
  ])
})

test('lines that resemble markers are none: headings, quotations, removed lines, lines that read as a head of the patch', () => {
  expect(conflictMarkers(patch('a', '+Title', '+=======', '+<<<<<<< is how git marks it'))).toEqual([])
  expect(conflictMarkers(patch('a', '-<<<<<<< HEAD', '->>>>>>> other'))).toEqual([])
  expect(conflictMarkers(patch('a', '+<<<<<<< HEAD', '++++ b/other', '+>>>>>>> x'))).toEqual([
    { path: 'a', line: 10 },
  ])
})
