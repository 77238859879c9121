import { expect, test } from 'vitest'
import { sourceFiles } from '../source-tree.ts'

/** Functions that may write or read less than they are given and report it only by a number. */
const RAW = /^(?:write|writeSync|writev|writevSync|read|readSync|readv|readvSync)$/

/**
 * Who uses one, and why no data can be lost there. Everything else writes with `writeFile` or a stream, which
 * are complete or fail.
 */
const RAW_USERS: Record<string, string[]> = {
  // Repeats until everything is written.
  'src/system/line-writer.ts': ['write'],
  // A pipe takes up to 4 KiB as a whole or not at all.
  'src/system/write-pipe-line.ts': ['writeSync'],
  // Repeats until everything is read, or throws.
  'src/system/read-exactly.ts': ['readSync'],
  // The last line of a process that is about to be killed: it waits for nothing.
  'src/worker/claim/lease-thread.ts': ['write'],
  // Takes what a pipe has, of any length.
  'src/sandbox/commands/pipe-reader.ts': ['readSync'],
}

/** Files that open a file handle of `node:fs/promises`, and the methods by which they use it. */
const HANDLE_USERS: Record<string, string[]> = {
  'src/backup/frames.ts': ['close', 'sync'],
  // Repeats until everything is read, or throws.
  'src/git/objects/packed-names.ts': ['read'],
  // A short read matches nothing, and git reads the reference then.
  'src/git/publish/own-push.ts': ['read', 'stat'],
  'src/git/serve/uploads.ts': ['appendFile'],
  'src/worker/publish/bundle-file.ts': ['appendFile'],
}

const files = ['src', 'scripts', 'web/src']
  .flatMap(folder => sourceFiles(folder, ['.ts', '.tsx', '.cjs']))
  .filter(({ path }) => !/\.test\.tsx?$/.test(path))

const namesFrom = (text: string, module: string): string[] =>
  [...text.matchAll(/^(?:import|const) \{([^}]*)\}\s*(?:from|= require\() ?'([^']+)'/gm)].flatMap(
    ([, names = '', from]) =>
      from === module ? names.split(',').map(name => name.trim().replace(/ as .*$/, '')) : [],
  )

test('no file writes or reads by a function that may stop early, except those that repeat it or need no more', () => {
  const found = files.flatMap(({ path, text }) => {
    const raw = namesFrom(text, 'node:fs').filter(name => RAW.test(name))
    return raw.length > 0 ? [[path, raw.sort()] as const] : []
  })
  expect(Object.fromEntries(found)).toEqual(RAW_USERS)
})

test('a file handle is written by complete writes only', () => {
  const openers = files.filter(({ text }) => namesFrom(text, 'node:fs/promises').includes('open'))
  const used = openers.map(({ path, text }) => {
    const names = [...text.matchAll(/(\w+) = await open\(/g)].map(([, name = '']) => name)
    expect(names.length, path).toBeGreaterThan(0)
    const methods = names.flatMap(name =>
      [...text.matchAll(new RegExp(`\\b${name}\\.(\\w+)\\(`, 'g'))].map(([, method = '']) => method),
    )
    return [path, [...new Set(methods)].sort()] as const
  })
  expect(Object.fromEntries(used)).toEqual(HANDLE_USERS)
})

test('no file imports all of the file system, where the rules above would not see what it uses', () => {
  expect(
    files
      .filter(({ text }) => /import (?:\* as \w+|\w+) from 'node:fs(?:\/promises)?'/.test(text))
      .map(({ path }) => path),
  ).toEqual([])
})
