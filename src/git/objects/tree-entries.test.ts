import { expect, test } from 'vitest'
import { entryNamed, pageOfTree } from './tree-entries.ts'

const treeOf = (...entries: [mode: string, name: Buffer | string, digit: string][]) =>
  Buffer.concat(
    entries.flatMap(([mode, name, digit]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(digit.repeat(40), 'hex'),
    ]),
  )

const tree = treeOf(
  ['120000', 'LINK', '1'],
  ['100755', 'a b', '2'],
  ['40000', 'folder', '3'],
  ['100644', Buffer.from('caf\xe9\n', 'latin1'), '4'],
  ['160000', 'module', '5'],
)
const listed = async (skip = 0, limit = 10) => {
  const { entries, total } = await pageOfTree(tree, { skip, limit })
  return [
    total,
    ...entries.map(
      ({ name, kind, executable, sha }) =>
        `${kind}${executable ? '*' : ''} ${name.toString('latin1')} ${sha[0]}`,
    ),
  ]
}

test('folders come first, and every kind of entry is known by its mode', async () => {
  expect(await listed()).toEqual([
    5,
    'folder folder 3',
    'link LINK 1',
    'file* a b 2',
    'file caf\xe9\n 4',
    'submodule module 5',
  ])
})

test('a page is the same part of the same list', async () => {
  expect(await listed(1, 2)).toEqual([5, 'link LINK 1', 'file* a b 2'])
  expect(await listed(5, 2)).toEqual([5])
})

test('a name is found by all of its bytes and not by a part of them', async () => {
  expect(await entryNamed(tree, Buffer.from('caf\xe9\n', 'latin1'))).toMatchObject({
    kind: 'file',
    sha: '4'.repeat(40),
  })
  for (const name of ['a', 'a b\0', 'folde', 'older', '', 'café\n', 'caf\xe9'])
    expect(await entryNamed(tree, Buffer.from(name))).toBeNull()
})

test('a damaged tree is reported, and the folder without entries is one', async () => {
  await expect(pageOfTree(tree.subarray(0, -1), { skip: 0, limit: 1 })).rejects.toMatchObject({
    code: 'corrupt',
  })
  await expect(entryNamed(Buffer.from('100644 x'), Buffer.from('y'))).rejects.toMatchObject({
    code: 'corrupt',
  })
  expect(await pageOfTree(Buffer.alloc(0), { skip: 0, limit: 1 })).toEqual({ entries: [], total: 0 })
})
