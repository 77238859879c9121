import { isSecretName } from './secret-names.ts'
import type { Sources } from './sources.ts'

const MAX_VALUE = 80

/**
 * Returns one line per file and one per variable that is set, with where its value comes from: `NAME=value
 * (origin)`. Secrets are hidden. `known`: the variables of the service; others that a file gives are keys of
 * models.
 */
export function describeSources({ values, origins, files }: Sources, known: readonly string[]): string[] {
  const names = [...new Set([...known.flatMap(name => [name, `${name}_FILE`]), ...origins.keys()])].filter(
    name => values[name],
  )
  const defaults = known.length - new Set(names.map(name => name.replace(/_FILE$/, ''))).size
  return [
    ...files.map(
      ({ path, found, entries }) =>
        `# ${path}: ${found ? counted(entries.length, 'variable') : 'does not exist'}`,
    ),
    ...names.map(
      name => `${name}=${shown(name, values[name] ?? '', known)} (${origins.get(name) ?? 'variable'})`,
    ),
    `# ${counted(defaults, 'further variable')} of the service ${defaults === 1 ? 'has its default' : 'have their defaults'}`,
  ]
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

function shown(name: string, value: string, known: readonly string[]): string {
  if (name.endsWith('_FILE')) return value
  if (isSecretName(name) || !known.includes(name)) return '[hidden]'
  // An address may contain a password.
  const line = value.replace(/\s+/g, ' ').replace(/(:\/\/)[^/@\s]*@/g, '$1[hidden]@')
  return line.length > MAX_VALUE ? `${line.slice(0, MAX_VALUE)}…` : line
}
