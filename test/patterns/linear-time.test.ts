import { expect, test } from 'vitest'
import { signatures } from '../../src/log-analysis/signatures/table.ts'
import { MISSING } from '../../src/setup-detection/repair/missing-packages.ts'
import packages from '../../src/setup-detection/repair/packages.json' with { type: 'json' }
import rules from '../../src/setup-detection/repair/repair-rules.json' with { type: 'json' }
import { COMMAND_RULES } from '../../src/setup-detection/repair/repair-rules.ts'
import { superLinear } from './linear-time.ts'
import { patternsOf, sourcePatterns } from './source-patterns.ts'

/** Patterns that the checker reports although no text makes them slow, or that see only short ones. */
const REVIEWED: Record<string, string> = {
  '(?:(?:[\\r\\n]|\\\\r|\\\\n)+[ \\t+-]?[ \\t]{0,40}(?:[A-Za-z0-9-]{2,40}: [^\\r\\n\\\\]{0,200}|[A-Za-z0-9+/=]{1,200}))+':
    'The lines of a private key. Sticky, and no line contains a line end or a backslash, so there is one way to divide them.',
}

/** What is inserted into patterns at run time: text that matches itself, or text of the service. */
const INSERTED: Record<string, string> = {
  "name.replace(/\\W/g, '\\\\$&')": 'escaped',
  'RegExp.escape(name)': 'escaped',
  'RegExp.escape(path)': 'escaped',
  "q.replace(/[\\\\^$.*+?()[\\]{}|/]/g, '\\\\$&')": 'escaped',
  "[...new Set(shapes.flatMap(({ marks }) => marks))].map(escaped).join('|')": 'escaped',
  'limits.session_id_chars': 'a number',
  SHORTEST_REST: 'a number',
  "SIGNALS.join('|')": 'numbers',
  "path.replace(/\\{\\w+\\}/g, '[^/]+')": 'paths of the contract, whose parts contain no slash',
  name: 'names in the same file',
  folder: 'test or tests',
  word: 'names of programs in the tables of the detection',
  'named[text] ?? text': 'a pattern of repair-rules.json, which is checked here',
  pattern: 'a literal of the table above it, or of a data file, which is checked here',
  'row.pattern': 'a pattern of packages.json, which is checked here',
  "patterns.join('|')": 'of a known error of a log, which is checked here',
  "near.join('|')": 'of a known error of a log, which is checked here',
}

/** Lists of literals that are joined as alternatives, by their file. */
const JOINED: Record<string, string> = {
  'src/core/runs/trace/stored-entry.ts': 'the keys of entries and their literals',
  'src/model/named-limits.ts': 'ten messages without an unbounded repetition',
}

const patterns = sourcePatterns()

test('every regular expression of the code takes linear time for any text', () => {
  expect(patterns.length).toBeGreaterThan(1_250)
  const slow = patterns.flatMap(({ where, source, flags }) => {
    const problem = source === null || source in REVIEWED ? null : superLinear(source, flags)
    return problem === null ? [] : [`${where} /${source}/${flags}: ${problem}`]
  })
  expect(slow).toEqual([])
})

test('every regular expression of the data files takes linear time for any text', () => {
  const of_packages = [...packages.macros, ...packages.pytest_plugins].map(row => new RegExp(row.pattern))
  const of_logs = signatures.flatMap(({ pattern, near }) => [pattern, near ?? []].flat())
  const replaced = rules.rules.flatMap(rule => (rule.replace ? [new RegExp(rule.replace[0] ?? '')] : []))
  const of_setup = [...COMMAND_RULES.flatMap(({ command, output }) => [command, output]), ...replaced]
  const of_missing = MISSING.map(([pattern]) => pattern)
  const all = [...of_packages, ...of_logs, ...of_setup, ...of_missing]
  expect(all.length).toBeGreaterThan(250)
  const slow = all.filter(({ source, flags }) => superLinear(source, flags) !== null)
  expect(slow).toEqual([])
})

test('no text from outside becomes a pattern', () => {
  const unknown = patterns.flatMap(({ where, inserted }) =>
    inserted
      .filter(code => !(code in INSERTED) && !((where.split(':')[0] ?? '') in JOINED))
      .map(code => `${where} inserts ${code}`),
  )
  expect(unknown).toEqual([])
})

test('the exceptions are in use', () => {
  const [sources, inserted] = [
    patterns.map(({ source }) => source),
    patterns.flatMap(pattern => pattern.inserted),
  ]
  const files = patterns
    .filter(pattern => pattern.inserted.length > 0)
    .map(({ where }) => where.split(':')[0])
  expect(Object.keys(REVIEWED).filter(source => !sources.includes(source))).toEqual([])
  expect(Object.keys(INSERTED).filter(code => !inserted.includes(code))).toEqual([])
  expect(Object.keys(JOINED).filter(file => !files.includes(file))).toEqual([])
})

test('literals, calls of RegExp and constant parts are found, comments and texts are not', () => {
  const code = [
    '// /a+a+/',
    'const NAME = String.raw`\\w+`, WORD = /b*/, text = "/c+/"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code.
    'const all = [/d/gi, new RegExp("e+"), RegExp(`^${NAME}${WORD.source}${given}$`, "m"), new RegExp(given)]',
    'const half = 4 / 2 / 1',
  ].join('\n')
  expect(patternsOf('a.ts', code).map(({ where: _, ...pattern }) => pattern)).toEqual([
    { source: 'b*', flags: '', inserted: [] },
    { source: 'd', flags: 'gi', inserted: [] },
    { source: 'e+', flags: '', inserted: [] },
    { source: '^\\w+b*x$', flags: 'm', inserted: ['given'] },
    { source: null, flags: '', inserted: ['given'] },
  ])
})

test.each([
  ['<(?=\\s*\\/?\\s*repository)', 'gi'],
  ['\\((.+)\\)$', ''],
  ['\\/+$', ''],
  ['\\s+$', ''],
  ['^\\s*a?\\s*b', ''],
  ['^(.*?)\\s*$', ''],
  ['(a+)+$', ''],
  ['^(?:a|a)*b', ''],
  ['^(?:\\\\.|[^\\]])*\\]', 's'],
  ['^(?:a|ab|b)*c', ''],
  ['<[^>]*>', 'g'],
  ['error .*failed', ''],
  ['unrecognized arguments:[^\\n]*--cov', ''],
  ['^a.*error.*error b', ''],
  ['^\\s*x', 'm'],
  ['("b\\/(?:[^"\\\\]|\\\\.)*")$', ''],
  ['^(?:[\\w.]+[-_])?requirements[^/]*\\.txt$', ''],
  ['(?:foo.*bar)?x', ''],
  ['[^\\n]*\\n|[^\\n]+', 'g'],
  ['^(?:foo .*, )*x', ''],
])('a slow pattern is found: /%s/%s', (source, flags) => {
  expect(superLinear(source, flags)).not.toBeNull()
})

test.each([
  ['<(?=\\s*(?:\\/\\s*)?repository)', 'gi'],
  ['(?<!\\/)\\/+$', ''],
  ['<[^<>]*>', 'g'],
  ['error .{0,500}failed', ''],
  ['^error: .*failed', 'm'],
  ['^[a-z0-9]+(?:-[a-z0-9]+)*$', ''],
  ['<!--[\\s\\S]*?(?:-->|$)', 'g'],
  ['\\s*x', 'y'],
  ['a.*', 'g'],
  ['^(?:foo|fob)*c', ''],
  ['^[ \\t]*x', 'm'],
  ['"(?:[^"\\\\]|\\\\.)*"?', 'g'],
])('a fast pattern is accepted: /%s/%s', (source, flags) => {
  expect(superLinear(source, flags)).toBeNull()
})
