import { parse as parseToml } from 'smol-toml'
import { Lexer, parseDocument } from 'yaml'
import { parseJson } from '../core/json/parse-json.ts'

/** A commit: the paths of its files, and the contents of those that are read. The reader limits both. */
export type Tree = { paths: readonly string[]; files: ReadonlyMap<string, string> }

type Values = { [key: string]: unknown }

/** One folder of a tree. Nothing here throws: a file that cannot be parsed counts as missing. */
export type Project = {
  /** `''`: the root. */
  folder: string
  has(path: string): boolean
  some(pattern: RegExp | ((path: string) => boolean)): boolean
  /** Returns the first of these that exists. */
  first(...paths: string[]): string | null
  matching(pattern: RegExp): string[]
  text(path: string): string | null
  json(path: string): Values | null
  toml(path: string): Values | null
  /** Returns the path in the repository. */
  at(path: string): string
}

/**
 * Returns the files below a folder of the repository as a project, with paths relative to it. A file that
 * cannot be parsed is null.
 */
export function projectAt({ paths, files }: Tree, folder: string): Project {
  const prefix = folder === '' ? '' : `${folder}/`
  const own = new Set(paths.filter(path => path.startsWith(prefix)).map(path => path.slice(prefix.length)))
  const text = (path: string) => files.get(prefix + path) ?? null
  const read = (path: string, parse: (text: string) => unknown) => {
    const found = text(path)
    return found === null ? null : asValues(attempt(() => parse(found)))
  }
  return {
    folder,
    has: path => own.has(path),
    some: wanted => own.values().some(typeof wanted === 'function' ? wanted : path => wanted.test(path)),
    first: (...wanted) => wanted.find(path => own.has(path)) ?? null,
    matching: pattern => [...own].filter(path => pattern.test(path)),
    text,
    json: path => read(path, content => parseJson('repository_file', content)),
    toml: path => read(path, content => (isSmallToml(content) ? parseToml(content) : null)),
    at: path => prefix + path,
  }
}

/**
 * Parts of a file, which cost the parsers up to some ten microseconds each. The largest manifests and
 * workflows have some thousand. One with more counts as missing.
 */
export const MAX_PARTS = 30_000

const isSmallYaml = (text: string): boolean =>
  !new Lexer()
    .lex(text)
    .drop(MAX_PARTS)
    .some(() => true)
/** Of what separates values, keys and tables; those within texts count too. */
const isSmallToml = (text: string): boolean =>
  !text
    .matchAll(/[,=[{]/g)
    .drop(MAX_PARTS)
    .some(() => true)

/** Returns null when it is not an object. */
export const asValues = (value: unknown): Values | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : null

export const asText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null

export const asTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.flatMap(one => asText(one) ?? []) : []

/** Returns the value at a path of keys; null when one of them is missing. */
export function valueAt(values: Values | null, ...keys: string[]): unknown {
  let at: unknown = values
  for (const key of keys) {
    const here = asValues(at)
    if (here === null || !Object.hasOwn(here, key)) return null
    at = here[key]
  }
  return at
}

export const namesOf = (value: unknown): string[] => Object.keys(asValues(value) ?? {})

/**
 * Parses a YAML document as plain values; null: it is invalid, or a key is not text. Aliases are counted, so
 * that a small text does not expand to a large one.
 */
export const yamlOf = (text: string): Values | null => asValues(attempt(() => valuesOf(text)))

function valuesOf(text: string): unknown {
  if (!isSmallYaml(text)) return null
  const document = parseDocument(text, {
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  // An invalid document may expand: nested brackets become keys of keys.
  return document.errors.length > 0 ? null : document.toJS({ maxAliasCount: 50 })
}

/** Parses JSON with comments and trailing commas, as editors write it. */
export function jsoncOf(text: string): Values | null {
  // An unclosed construct extends to the end, so that nothing is rescanned from a position within it.
  const plain = text.replace(
    /("(?:\\[\s\S]|[^"\\])*"?)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g,
    (_, string: string | undefined) => string ?? ' ',
  )
  const strict = plain.replace(
    /("(?:\\[\s\S]|[^"\\])*"?)|,(?=\s*[}\]])/g,
    (_, string: string | undefined) => string ?? '',
  )
  return asValues(parseJson('repository_file', strict))
}

/** The input is untrusted: a parse error yields null. */
function attempt(parse: () => unknown): unknown {
  try {
    return parse()
  } catch {
    return null
  }
}
