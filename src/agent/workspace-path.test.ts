import { expect, test } from 'vitest'
import { workspacePath } from './workspace-path.ts'

test.each([
  ['a', 'a'],
  ['./a', 'a'],
  ['b/../a', 'a'],
  ['.//b///a/', 'b/a'],
  ['/workspace/a', 'a'],
  ['../workspace/a', 'a'],
  ['../a', '/a'],
  ['/etc/../etc/passwd', '/etc/passwd'],
  ['../../../tmp/x', '/tmp/x'],
  ['workspace/a', 'workspace/a'],
  ['/workspace2/a', '/workspace2/a'],
  ['.', '/workspace'],
])('%s is the file %s', (path, name) => {
  expect(workspacePath(path)).toBe(name)
})
