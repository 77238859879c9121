import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * The project uses the terms of docs/glossary.md. These words belong to an earlier private dialect: reports and requests were "told" and
 * "asked", locations were "places". `allowed`: identifiers of stored data, which tests do not use.
 */
const retired = ['said', 'told', 'asked', 'whoever', 'anew', 'farewell', 'mended', 'onlooker', 'onlookers', 'stood', 'heard', 'unheard']
const allowed = new Set(['asked'])
const phrases = ['whoever', 'anew', 'by hand', 'as ever', 'let go of', 'at work', 'was told', 'is told', 'mend']
/** Comments and names of tests. Allowed are the names of identifiers, which are between backticks. */
const in_comments = [
  ...retired,
  ...phrases,
  ...[
    'say',
    'says',
    'tell',
    'tells',
    'place',
    'places',
    'figure',
    'figures',
    'looked',
    'stands',
    'found out',
    'finds out',
    'mends',
    'farewell',
  ],
]

const clone = new URL('../', import.meta.url)
const list = (...paths: string[]) => execFileSync('git', ['ls-files', ...paths], { cwd: clone, encoding: 'utf8' }).split('\n')
const read = (path: string) => readFileSync(new URL(path, clone), 'utf8')

const isTest = (path: string) => path.startsWith('test/') || /\.test\.tsx?$/.test(path)

/** Code without comments, strings and regular expressions: only identifiers and operators are left. */
const withoutText = (source: string) =>
  source
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g, "''")
    .replaceAll(/(^|[^:])\/\/.*$/gm, '$1')
    .replaceAll(/`(?:\\.|[^`\\])*`/g, '``')

const wordsOf = (identifier: string) =>
  identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$]+/)

test('no identifier of the service, the page or the tests uses a retired word', () => {
  const found = list('src', 'web/src', 'bench', 'scripts', 'test')
    .filter(path => /\.tsx?$/.test(path))
    .flatMap(path =>
      [...new Set(withoutText(read(path)).match(/[A-Za-z_$][\w$]*/g))]
        .filter(identifier => isTest(path) || !allowed.has(identifier))
        .filter(identifier => wordsOf(identifier).some(word => retired.includes(word)))
        .map(identifier => `${path}: ${identifier}`),
    )
  expect(found).toEqual([])
})

/** Comments, and the names of tests, without what is between backticks. */
function prose(path: string, source: string): string[] {
  // A regular expression or a glob may contain the marks of a comment.
  const code = source.replaceAll(/'(?:\\.|[^'\\\n])*'/g, text => text.replaceAll(/\/[*/]|\*\//g, ''))
  const comments = code.match(/^[ \t]*\/\*\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm) ?? []
  const names = isTest(path)
    ? [...source.matchAll(/\b(?:test|it|describe)(?:\.\w+)*(?:\([^'"`\n]*\))?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(
        match => match[2] ?? '',
      )
    : []
  return [...comments.map(comment => comment.replaceAll(/`[^`\n]*`/g, '')), ...names]
}

test('no comment and no name of a test uses a retired word', () => {
  const pattern = new RegExp(`\\b(${in_comments.join('|')})\\b`, 'i')
  const found = list('src', 'web/src', 'bench', 'scripts', 'test')
    .filter(path => /\.tsx?$/.test(path) && path !== 'test/vocabulary.test.ts')
    .flatMap(path =>
      prose(path, read(path)).flatMap(text => (pattern.test(text) ? [`${path}: ${pattern.exec(text)?.[0]}: ${text.trim()}`] : [])),
    )
  expect(found).toEqual([])
})

test('no page of the documentation uses a retired phrase', () => {
  const pattern = new RegExp(`\\b(${phrases.join('|')})\\b`, 'i')
  const found = list('docs', '*.md')
    .filter(path => path.endsWith('.md'))
    .flatMap(path =>
      read(path)
        .replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '')
        .split('\n')
        .flatMap(line => (pattern.test(line) ? [`${path}: ${line.slice(0, 100)}`] : [])),
    )
  expect(found).toEqual([])
})
