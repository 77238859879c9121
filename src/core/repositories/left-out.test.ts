import { expect, test } from 'vitest'
import { leftOutBy, leftOutText } from './left-out.ts'

test('submodules are known by their folders, files of LFS by their attribute', () => {
  const modules =
    '[submodule "lib"]\n\tpath = vendor/lib\n\turl = https://example.org/lib.git\n[submodule "x"]\r\n  path="odd name"\r\n\turl = ../x\n'
  expect(leftOutBy(modules, '# *.psd filter=lfs\n*.txt text\n')).toEqual({
    submodules: ['vendor/lib', 'odd name'],
    lfs: false,
  })
  expect(leftOutBy(undefined, '*.txt text\n*.psd filter=lfs diff=lfs merge=lfs -text\n')).toEqual({
    submodules: [],
    lfs: true,
  })
})

test('a repository without either leaves nothing out', () => {
  expect(leftOutBy(undefined, undefined)).toBeNull()
  expect(leftOutBy('', '*.js text\n# a comment with filter=lfs\n')).toBeNull()
})

test('omitted files are listed by name', () => {
  expect(leftOutText({ submodules: ['vendor/lib'], lfs: true })).toBe(
    'Its submodules are not checked out (vendor/lib): their folders are empty. Files that it keeps by Git LFS are pointers of a few lines, not their content. They cannot be fetched here.',
  )
})
