import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testFolder } from '../../../test/temporary-folder.ts'
import { homeFileCommand } from './home-file.ts'

const PATH = '.config/some app/settings'

test.each([
  ['nothing', 'true'],
  ['a file of an earlier process', 'mkdir -p ".config/some app"; echo old >".config/some app/settings"'],
  ['a named pipe', 'mkdir -p ".config/some app"; mkfifo ".config/some app/settings"'],
  [
    'a link to a file elsewhere',
    'mkdir -p ".config/some app"; ln -s "$OTHER/target" ".config/some app/settings"',
  ],
  ['a link to a folder elsewhere', 'mkdir -p .config; ln -s "$OTHER" ".config/some app"'],
  ['a link instead of the first folder', 'ln -s "$OTHER" .config'],
  ['a file instead of a folder', 'touch .config'],
  [
    'a folder instead of the file',
    'mkdir -p ".config/some app/settings/a/b"; chmod 0 ".config/some app/settings/a"',
  ],
  [
    'a file without permissions',
    'mkdir -p ".config/some app"; touch ".config/some app/settings"; chmod 0 ".config/some app/settings"',
  ],
  [
    'folders without permissions',
    'mkdir -p ".config/some app"; chmod 0 ".config/some app"; chmod 0 .config; chmod 0 .',
  ],
])('a file is created in a home folder that has %s, and nowhere else', (_, left) => {
  const folder = testFolder()
  const [HOME, OTHER] = [join(folder, 'home'), join(folder, 'other')]
  for (const path of [HOME, OTHER]) mkdirSync(path)
  const bash = (command: string) =>
    execFileSync('/bin/bash', ['-c', command], { cwd: HOME, env: { HOME, OTHER, PATH: '/usr/bin:/bin' } })
  bash(left)
  bash(homeFileCommand(PATH, `printf %s 'new text'`))
  expect(readFileSync(join(HOME, PATH), 'utf8')).toBe('new text')
  expect(lstatSync(join(HOME, PATH)).isFile()).toBe(true)
  expect(readdirSync(OTHER)).toEqual([])
})
