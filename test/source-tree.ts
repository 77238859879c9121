import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The clone's own folder. */
export const clone = fileURLToPath(new URL('../', import.meta.url))

/**
 * `target` is a path from the clone's folder, or the name of a package. `types`: erased, so nothing is loaded
 * at run time.
 */
export type Import = { target: string; types: boolean; from_package: boolean }
export type SourceFile = { path: string; text: string; lines: number; imports: Import[] }

/**
 * Every file below `folder` (a path from the clone's folder) whose name ends in one of `endings`, with what
 * it imports.
 */
export function sourceFiles(folder: string, endings: string[]): SourceFile[] {
  return readdirSync(join(clone, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && endings.some(ending => entry.name.endsWith(ending)))
    .map(entry => join(entry.parentPath, entry.name).slice(clone.length))
    .filter(path => !path.includes('node_modules/') && !path.startsWith('web/dist/'))
    .sort()
    .map(path => {
      const text = readFileSync(join(clone, path), 'utf8')
      return { path, text, lines: text.split('\n').length - 1, imports: importsOf(path, text) }
    })
}

/** Static and dynamic imports and re-exports, in the format of the formatter. */
export function importsOf(path: string, text: string): Import[] {
  const found: Import[] = []
  const add = (specifier: string, types: boolean) => {
    const from_package = !specifier.startsWith('.')
    found.push({
      target: from_package ? packageOf(specifier) : posix.join(dirname(path), specifier),
      types,
      from_package,
    })
  }
  // Neither comments nor texts that hold source code of their own count.
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '').replace(/`(?:[^`\\]|\\.)*`/g, '``')
  for (const [, what = '', names = '', specifier = ''] of code.matchAll(
    /^(?:import|export)( type)?\s+([^'"`;]*?)\s*from '([^']+)'/gm,
  ))
    add(specifier, what !== '' || onlyTypes(names))
  for (const [, specifier = ''] of code.matchAll(/^import '([^']+)'/gm)) add(specifier, false)
  for (const [, before = '', specifier = ''] of code.matchAll(/(typeof )?\bimport\('([^']+)'\)/g))
    add(specifier, before !== '')
  return found
}

/** `{ type A, type B }` brings nothing in; a default or a star does. */
function onlyTypes(names: string): boolean {
  const inner = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1]
  if (inner === undefined) return false
  return inner
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
    .every(name => name.startsWith('type '))
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
