import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { excludePatterns } from './exclude-patterns.ts'

test('git excludes exactly the named file, regardless of special characters in its name', () => {
  using folder = temporaryFolder()
  const odd = ['a*b', 'q?', '[x]', '!not', '#note', 'end ', 'back\\slash', '-dash', 'ü']
  const others = ['axb', 'qq', 'x', 'not', 'note', 'end', 'backslash', 'sub/a*b']
  mkdirSync(join(folder.path, 'sub'))
  mkdirSync(join(folder.path, 'made'))
  for (const name of [...odd, ...others, 'made/x']) writeFileSync(join(folder.path, name), '')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder.path, encoding: 'utf8' })
  git('init', '--quiet')
  writeFileSync(join(folder.path, '.git/info/exclude'), excludePatterns([...odd, 'made/', 'line\nend', '']))
  expect(git('ls-files', '--others', '--exclude-standard', '-z').split('\0').slice(0, -1).sort()).toEqual(
    others.sort(),
  )
})
