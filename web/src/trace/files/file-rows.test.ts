import { expect, test } from 'vitest'
import type { RunFileEntry } from '../../../../src/contract/runs/run-files.ts'
import { type FolderContent, fileRows, foldersAbove, treeMove } from './file-rows.ts'

const entry = (path: string, kind: RunFileEntry['kind'] = 'file'): RunFileEntry => ({
  name: path.split('/').at(-1) ?? '',
  path,
  kind,
  executable: false,
  size: kind === 'file' ? 1 : null,
  target: null,
  commit: null,
})
const content = (items: RunFileEntry[], more: Partial<FolderContent> = {}): FolderContent => ({
  items,
  total: items.length,
  loading: false,
  problem: null,
  ...more,
})
const open: Record<string, FolderContent> = {
  '': content([entry('docs', 'folder'), entry('src', 'folder'), entry('a.txt')], { total: 500 }),
  src: content([entry('src/deep', 'folder'), entry('src/b.ts')]),
  'src/deep': content([], { loading: true }),
}
const rows = fileRows(folder => open[folder])
const drawn = rows.map(
  row =>
    `${'  '.repeat(row.level - 1)}${row.kind === 'entry' ? `${row.entry.name} ${row.position}/${row.size}` : row.kind}`,
)

test('open folders show their entries below them, and what is not loaded has a line of its own', () => {
  expect(drawn).toEqual([
    'docs 1/500',
    'src 2/500',
    '  deep 1/2',
    '    loading',
    '  b.ts 2/2',
    'a.txt 3/500',
    'more',
  ])
  expect(rows.at(-1)).toMatchObject({ kind: 'more', rest: 497 })
  const failed = fileRows(() => content([], { problem: 'Gone.', total: 3 }))
  expect(failed).toEqual([{ kind: 'problem', message: 'Gone.', level: 1, folder: '' }])
})

test.each([
  ['ArrowDown', 0, { to: 1 }],
  ['ArrowDown', 6, null],
  ['ArrowUp', 0, null],
  ['End', 0, { to: 6 }],
  ['Home', 5, { to: 0 }],
  ['ArrowRight', 0, { open: 'docs' }],
  ['ArrowRight', 1, { to: 2 }],
  ['ArrowRight', 5, null],
  ['ArrowLeft', 1, { close: 'src' }],
  ['ArrowLeft', 4, { to: 1 }],
  ['ArrowLeft', 0, null],
  ['x', 0, null],
])('%s at line %i', (key, at, move) => {
  expect(treeMove(rows, at, key)).toEqual(move)
})

test('the folders above a path are named from the top', () => {
  expect(foldersAbove('src/deep/b.ts')).toEqual(['src', 'src/deep'])
  expect(foldersAbove('a.txt')).toEqual([])
})
