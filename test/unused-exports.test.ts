import { dirname, join } from 'node:path/posix'
import { expect, test } from 'vitest'
import { type SourceFile, sourceFiles } from './source-tree.ts'

const files = ['src', 'web', 'test', 'bench', 'scripts'].flatMap(folder =>
  sourceFiles(folder, ['.ts', '.tsx']),
)
const isProduct = ({ path }: SourceFile) => /^(src|web\/src)\//.test(path) && !/\.test\.tsx?$/.test(path)

/** Templates may hold source code of their own. */
const withoutTemplates = (text: string) => text.replace(/`(?:[^`\\]|\\.)*`/g, '``')

const exported = ({ path, text }: SourceFile) =>
  [...withoutTemplates(text).matchAll(/^export (?:async )?(?:const|let|function\*?|class|type) (\w+)/gm)].map(
    ([, name]) => `${path}: ${name}`,
  )

/** What a file imports or exports again, by file and name; `*` where it is everything. */
function imported({ path, text }: SourceFile): string[] {
  const target = (specifier: string) => join(dirname(path), specifier)
  const named = text.matchAll(/^(?:import|export)(?: type)?\s+([^'"`;]*?)\s*from '(\.[^']+)'/gm)
  return [
    ...[...named].flatMap(([, names = '', specifier = '']) =>
      names
        .replace(/[{}]/g, ' ')
        .split(',')
        .map(name =>
          name
            .trim()
            .replace(/^type /, '')
            .replace(/ as .*$/, ''),
        )
        .map(name => `${target(specifier)}: ${name}`),
    ),
    ...[...text.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, specifier = '']) => `${target(specifier)}: *`),
  ]
}

test('every name that src and web/src export is imported by another file', () => {
  const used = new Set(files.flatMap(imported))
  const names = files.filter(isProduct).flatMap(exported)
  expect(names.length).toBeGreaterThan(1_000)
  expect(names.filter(name => !used.has(name) && !used.has(name.replace(/ \w+$/, ' *')))).toEqual([])
})
