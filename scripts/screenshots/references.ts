import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ReducedPicture } from './reduce-picture.ts'

/** The reduced pictures that `npm run screenshots` writes and a test compares, by name. */
const folder = fileURLToPath(new URL('../../test/e2e/pictures/', import.meta.url))
const colours_file = `${folder}colours.txt`

export function readReferences(): Map<string, ReducedPicture> {
  if (!existsSync(colours_file)) return new Map()
  const small = (name: string) =>
    existsSync(`${folder}${name}.webp`) ? readFileSync(`${folder}${name}.webp`, 'base64') : ''
  const lines = readFileSync(colours_file, 'utf8').trim().split('\n')
  return new Map(
    lines
      .map(line => line.split(' '))
      .map(([name = '', ...colours]) => [name, { small: small(name), colours }]),
  )
}

/** Replaces all references. */
export function writeReferences(references: Map<string, ReducedPicture>): void {
  mkdirSync(folder, { recursive: true })
  for (const file of readdirSync(folder).filter(file => file.endsWith('.webp'))) rmSync(folder + file)
  for (const [name, { small }] of references) writeFileSync(`${folder}${name}.webp`, small, 'base64')
  const lines = [...references].map(([name, { colours }]) => [name, ...colours].join(' '))
  writeFileSync(colours_file, `${lines.sort().join('\n')}\n`)
}
