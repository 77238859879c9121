import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { endpoints } from '../src/contract/endpoints.ts'
import { clone, type SourceFile, sourceFiles } from './source-tree.ts'

const operations = Object.keys(endpoints)

/**
 * The files that the web page consists of: what its entry point imports, also on demand, and the client that
 * it shares with programs.
 */
function filesOfPage(): SourceFile[] {
  const all = new Map(
    ['web/src', 'src'].flatMap(folder => sourceFiles(folder, ['.ts', '.tsx'])).map(file => [file.path, file]),
  )
  const reached = new Set<SourceFile>()
  const add = (path: string) => {
    const file = all.get(path)
    if (!file || reached.has(file)) return
    reached.add(file)
    for (const { target, types } of file.imports) if (!types) add(target)
  }
  add('web/src/main.tsx')
  // The contract names every operation.
  return [...reached].filter(({ path }) => !path.startsWith('src/contract/'))
}

/**
 * The operations that a file calls: `call('name', …)`, also through a table or a condition. The name of a
 * type calls nothing.
 */
function calledBy({ text }: SourceFile): string[] {
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '').replace(/<'\w+'>/g, '')
  const names = new Set([...code.matchAll(/'(\w+)'/g)].map(([, name = '']) => name))
  return operations.filter(name => names.has(name))
}

/** The rows of the documented table: operations, and why they have no page. */
function documented(): { names: string[]; reason: string }[] {
  const page = readFileSync(join(clone, 'docs/how-to/web-interface.md'), 'utf8')
  const section = /^## API only\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(page)?.[1] ?? ''
  return [...section.matchAll(/^\| (`.*?) \| (.*) \|$/gm)].map(([, names = '', reason = '']) => ({
    names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    reason,
  }))
}

const called = new Set(filesOfPage().flatMap(calledBy))
const api_only = documented().flatMap(({ names }) => names)

test('each operation of the API has a screen, or the documentation states why it has none', () => {
  expect(called.size).toBeGreaterThan(80)
  expect(operations.filter(name => !called.has(name) && !api_only.includes(name))).toEqual([])
})

test('what the documentation calls API only exists, has a reason and no screen', () => {
  expect(api_only.filter(name => !operations.includes(name))).toEqual([])
  expect(api_only.filter(name => called.has(name))).toEqual([])
  expect(documented().filter(({ names, reason }) => names.length === 0 || reason.trim().length < 20)).toEqual(
    [],
  )
})
