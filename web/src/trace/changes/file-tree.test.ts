import { expect, test } from 'vitest'
import { fileTree, type TreeNode } from './file-tree.ts'

const file = (path: string) => ({
  path,
  old_path: null,
  status: 'modified' as const,
  additions: 1,
  deletions: 0,
  binary: false,
})

const drawn = (nodes: TreeNode[]): unknown[] =>
  nodes.map(node => ('folder' in node ? [node.name, ...drawn(node.folder)] : `${node.name} ${node.index}`))

test('changed files are a tree: folders first, and chains of folders in one line', () => {
  const paths = [
    'README.md',
    'src/app/main.ts',
    'src/app/ui/button.tsx',
    'src/app/ui/a.tsx',
    'docs/guide/start.md',
  ]
  expect(drawn(fileTree(paths.map(file)))).toEqual([
    ['docs/guide', 'start.md 4'],
    ['src/app', ['ui', 'a.tsx 3', 'button.tsx 2'], 'main.ts 1'],
    'README.md 0',
  ])
})

test('a file and a folder of one name are both listed', () => {
  expect(drawn(fileTree(['a/b', 'a'].map(file)))).toEqual([['a', 'b 0'], 'a 1'])
})
