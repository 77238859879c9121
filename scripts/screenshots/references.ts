import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Reduced } from './reduce-picture.ts'

/** The reduced pictures that `npm run screenshots` writes and a test compares, by name. */
const folder = fileURLToPath(new URL('../../test/e2e/pictures/', import.meta.url))
const colours_file = `${folder}colours.json`

export function readReferences(): Map<string, Reduced> {
  if (!existsSync(colours_file)) return new Map()
  const colours: Record<string, string[]> = JSON.parse(readFileSync(colours_file, 'utf8'))
  const small = (name: string) => (existsSync(`${folder}${name}.webp`) ? readFileSync(`${folder}${name}.webp`, 'base64') : '')
  return new Map(Object.entries(colours).map(([name, list]) => [name, { small: small(name), colours: list }]))
}

/** Replaces all references. */
export function writeReferences(references: Map<string, Reduced>): void {
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder).filter(file => file.endsWith('.webp'))) rmSync(folder + file)
  for (const [name, { small }] of references) writeFileSync(`${folder}${name}.webp`, small, 'base64')
  const lines = [...references].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { colours }]) => `  "${name}": ${JSON.stringify(colours)}`)
  writeFileSync(colours_file, `{\n${lines.join(',\n')}\n}\n`)
}
