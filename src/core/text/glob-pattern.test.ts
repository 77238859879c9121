import { expect, test } from 'vitest'
import { GlobError, globPattern } from './glob-pattern.ts'

const PATHS = [
  'a.ts',
  'b.tsx',
  'c.js',
  'src/a.ts',
  'src/deep/b.tsx',
  'src/deep/a+b.ts',
  'test/src/a.ts',
  '.github/ci.yml',
  'x{1}.md',
  'src/[id].ts',
]

test.each([
  ['*.ts', ['a.ts', 'src/a.ts', 'src/deep/a+b.ts', 'test/src/a.ts', 'src/[id].ts']],
  ['**/*.ts', ['a.ts', 'src/a.ts', 'src/deep/a+b.ts', 'test/src/a.ts', 'src/[id].ts']],
  ['src/*.ts', ['src/a.ts', 'src/[id].ts']],
  ['./src/*.ts', ['src/a.ts', 'src/[id].ts']],
  ['/a.ts', ['a.ts']],
  ['src/**', ['src/a.ts', 'src/deep/b.tsx', 'src/deep/a+b.ts', 'src/[id].ts']],
  ['src/', ['src/a.ts', 'src/deep/b.tsx', 'src/deep/a+b.ts', 'src/[id].ts', 'test/src/a.ts']],
  ['src/**/*.{ts,tsx}', ['src/a.ts', 'src/deep/b.tsx', 'src/deep/a+b.ts', 'src/[id].ts']],
  ['**/src/*.ts', ['src/a.ts', 'test/src/a.ts', 'src/[id].ts']],
  [
    '*.{ts,tsx}',
    ['a.ts', 'b.tsx', 'src/a.ts', 'src/deep/b.tsx', 'src/deep/a+b.ts', 'test/src/a.ts', 'src/[id].ts'],
  ],
  ['{a,b}.{js,tsx}', ['b.tsx', 'src/deep/b.tsx']],
  ['?.ts', ['a.ts', 'src/a.ts', 'test/src/a.ts']],
  ['[ab].ts*', ['a.ts', 'b.tsx', 'src/a.ts', 'src/deep/b.tsx', 'test/src/a.ts']],
  ['[!a-b].*', ['c.js']],
  ['a+b.ts', ['src/deep/a+b.ts']],
  ['**/*.yml', ['.github/ci.yml']],
  ['.github/**', ['.github/ci.yml']],
  ['x\\{1\\}.md', ['x{1}.md']],
  ['src/\\[id\\].ts', ['src/[id].ts']],
  ['*.md}', []],
])('%s', (glob, expected) => {
  const pattern = new RegExp(`^(?:${globPattern(glob)})$`)
  expect(PATHS.filter(path => pattern.test(path)).toSorted()).toEqual(expected.toSorted())
})

test.each(['*.{ts', '[a.ts', '{a,{b}', '[]'])('%s is an error that names the glob', glob => {
  expect(() => globPattern(glob)).toThrow(GlobError)
  expect(() => globPattern(glob)).toThrow(glob)
})
