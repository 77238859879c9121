import { accessSync, constants, readFileSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseEnv } from 'node:util'
import { parse, type TomlTable, type TomlValue } from 'smol-toml'
import { isSecretInFile } from './secret-names.ts'

/** A variable that a file gives. `line`: 1 is the first; null when it cannot be determined. */
type Entry = { name: string; value: string; line: number | null }
/** `found` is false when there is no such file. Mistakes name the file, and never contain a value. */
export type ConfigurationFile = { path: string; found: boolean; entries: Entry[]; mistakes: string[] }

type Mistake = { line: number | null; text: string }
type ParsedFile = { entries: Entry[]; mistakes: Mistake[] }

/** Variables whose value is JSON: a table of TOML gives them too. */
const json_names = ['AGENTRUN_MODELS', 'AGENTRUN_AGENTS']
const READABLE_BY_OTHERS = 0o004
const WRITABLE_BY_OTHERS = 0o002
const ROOT = 0

/**
 * Reads a file of lines `NAME=value`, with `#` for comments and quotes around values that contain blanks or
 * `#`.
 */
export const readEnvFile = (path: string): ConfigurationFile => readConfigurationFile(path, parseLines)

/** Reads a TOML file whose keys are the names of variables. */
export const readTomlFile = (path: string): ConfigurationFile => readConfigurationFile(path, parseToml)

/** Returns the position in a file as messages name it. */
export const positionText = (path: string, line: number | null): string =>
  line === null ? path : `${path}, line ${line}`

function readConfigurationFile(path: string, parseText: (text: string) => ParsedFile): ConfigurationFile {
  let text: string
  let stat: Stats
  try {
    text = readFileSync(path, 'utf8')
    stat = statSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A folder that this user cannot enter is reported by who needs the folder, with what to do.
    if (code === 'ENOENT' || (code === 'EACCES' && !canEnter(dirname(path))))
      return { path, found: false, entries: [], mistakes: [] }
    return {
      path,
      found: true,
      entries: [],
      mistakes: [`${path}: cannot be read by the user with id ${process.getuid?.()} (${code})`],
    }
  }
  const parsed = parseText(text)
  const [entries, unnamed] = [parsed.entries.filter(hasName), parsed.entries.filter(entry => !hasName(entry))]
  const mistakes = [
    ...parsed.mistakes,
    ...unnamed.map(({ name, line }) => ({ line, text: `${JSON.stringify(name)}: unknown variable` })),
  ]
  return {
    path,
    found: true,
    entries,
    mistakes: [
      ...mistakes.map(mistake => `${positionText(path, mistake.line)}: ${mistake.text}`),
      ...ownerMistakes(path, stat.uid),
      ...modeMistakes(path, stat.mode, entries),
    ],
  }
}

function canEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether an object of variables can contain it: `__proto__` would be lost. */
const hasName = ({ name }: Entry) => /^(?!__proto__$)[A-Za-z_]\w*$/.test(name)

/** Of a link, its target counts: Kubernetes mounts files as links. */
function ownerMistakes(path: string, uid: number): string[] {
  const own = process.getuid?.() ?? 0
  if (uid === own || uid === ROOT) return []
  return [`${path}: belongs to the user with id ${uid}, who can change it: chown ${own} ${path}`]
}

function modeMistakes(path: string, mode: number, entries: Entry[]): string[] {
  if ((mode & WRITABLE_BY_OTHERS) !== 0)
    return [`${path}: every user of this machine can change it: chmod 600 ${path}`]
  const secret = entries.find(({ name }) => isSecretInFile(name))
  if (secret === undefined || (mode & READABLE_BY_OTHERS) === 0) return []
  return [`${path}: contains ${secret.name}, and every user of this machine can read it: chmod 600 ${path}`]
}

function parseLines(text: string): ParsedFile {
  const entries: Entry[] = []
  const mistakes: Mistake[] = []
  for (const [index, content] of text.split(/\r?\n/).entries()) {
    const line = index + 1
    if (/^\s*(#|$)/.test(content)) continue
    const [, name, assigned = ''] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/.exec(content) ?? []
    const value = assigned.trimStart()
    if (name === undefined) mistakes.push({ line, text: 'must be NAME=value' })
    else if (entries.some(entry => entry.name === name))
      mistakes.push({ line, text: `${name}: is given twice` })
    else if (/^(?:#|[^"'`]*[^\s"'`]#)/.test(value))
      mistakes.push({ line, text: `${name}: a value that contains # needs quotes` })
    else {
      const read = parseEnv(content)[name] ?? ''
      if (/^["'`]/.test(value) && read.startsWith(value.slice(0, 1)))
        mistakes.push({ line, text: `${name}: the quote is not closed` })
      else entries.push({ name, value: read, line })
    }
  }
  return { entries, mistakes }
}

function parseToml(text: string): ParsedFile {
  let table: TomlTable
  try {
    table = parse(text)
  } catch (error) {
    const { line = null, message } = error as Error & { line?: number }
    // Only the first line of the message: the next ones show the file, and there may be a secret in it.
    return { entries: [], mistakes: [{ line, text: message.split('\n')[0] ?? '' }] }
  }
  const lines = text.split('\n')
  const entries: Entry[] = []
  const mistakes: Mistake[] = []
  for (const [name, given] of Object.entries(table)) {
    const key = new RegExp(`^\\s*(?:\\[\\s*)?["']?${name.replace(/\W/g, '\\$&')}["']?\\s*[=.\\]]`)
    const line = lines.findIndex(content => key.test(content)) + 1 || null
    const value = valueText(name, given)
    if (value === null)
      mistakes.push({
        line,
        text: `${name}: must be a text, a number, true or false, or a list of texts without commas`,
      })
    else entries.push({ name, value, line })
  }
  return { entries, mistakes }
}

/** Returns the value as a variable gives it; null when it has no such form. */
function valueText(name: string, value: TomlValue): string | null {
  if (typeof value === 'string') return value
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value)
  if (Array.isArray(value)) {
    const items = value.map(item => (typeof item === 'string' && !item.includes(',') ? item : null))
    return items.includes(null) ? null : items.join(',')
  }
  return json_names.includes(name) && !(value instanceof Date) ? JSON.stringify(value) : null
}
