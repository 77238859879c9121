import { Lexer, parse } from 'yaml'

/** The front matter of a Markdown file as texts, and what follows it. `fields` null: it has none. */
type FrontMatter = { fields: Record<string, string> | null; body: string }

const MAX_YAML_CHARS = 8_000
/**
 * Parts of YAML, which cost the parser some ten microseconds each. A description and ten other fields have
 * less than a hundred.
 */
const MAX_LEXEMES = 1_000

/**
 * Reads the front matter of a file that a repository wrote. What is not valid YAML, like the unquoted `globs:
 * *.ts` of Cursor, is read line by line; nested values are ignored, lists of texts are joined by commas.
 * Never throws.
 */
export function readFrontMatter(text: string): FrontMatter {
  const begin = /^\ufeff?---[ \t]*\r?\n/.exec(text)?.[0]
  const rest = text.slice(begin?.length)
  const end = begin === undefined ? null : /^---[ \t]*\r?$\n?/m.exec(rest)
  if (end === null) return { fields: null, body: text }
  const block = rest.slice(0, end.index)
  const fields = isShort(block) ? yamlFields(block) : null
  return { fields: fields ?? lineFields(block), body: rest.slice(end.index + end[0].length) }
}

const isShort = (block: string): boolean =>
  block.length <= MAX_YAML_CHARS &&
  new Lexer()
    .lex(block)
    .take(MAX_LEXEMES + 1)
    .reduce(count => count + 1, 0) <= MAX_LEXEMES

function yamlFields(block: string): Record<string, string> | null {
  try {
    const value: unknown = parse(block, { maxAliasCount: 0, logLevel: 'silent' })
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, item]) => (isPlain(item) ? [[name, textOf(item)]] : [])),
    )
  } catch {
    return null
  }
}

const isPlain = (item: unknown): boolean =>
  ['string', 'number', 'boolean'].includes(typeof item) || (Array.isArray(item) && item.every(isPlain))
const textOf = (item: unknown): string => (Array.isArray(item) ? item.map(textOf).join(', ') : String(item))

function lineFields(block: string): Record<string, string> {
  const lines = block.split(/\r?\n/).flatMap(line => {
    const [, name, value = ''] = /^([\w-]{1,100}):(.*)$/.exec(line) ?? []
    return name === undefined ? [] : [[name, value.trim().replace(/^(["'])(.*)\1$/, '$2')]]
  })
  return Object.fromEntries(lines)
}
