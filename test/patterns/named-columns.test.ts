import { expect, test } from 'vitest'
import { sourceFiles } from '../source-tree.ts'

/** As many values as a reader can count. */
const MAX_VALUES = 6

const templates = (text: string) => [...text.matchAll(/`(?:[^`\\]|\\.)*`/g)].map(([template]) => template)
const parameters = (sql: string) => sql.match(/\$\d+/g)?.length ?? 0

/** The values of an insert or of an update, between its first word and the next clause. */
const written = (sql: string) => [
  ...sql.matchAll(
    /\binsert into [^;]*?\b(?:values|select)\b([\s\S]*?)(?:\bfrom\b|\bon conflict\b|\breturning\b|$)/g,
  ),
  ...sql.matchAll(/\bset\b([\s\S]*?)(?:\bwhere\b|\breturning\b|$)/g),
]

const positional = (text: string) =>
  templates(text).filter(sql => written(sql).some(([, values = '']) => parameters(values) > MAX_VALUES))

test('a statement of the store that writes more than six values names the column of each (src/store/statement.ts)', () => {
  const files = sourceFiles('src/store', ['.ts']).filter(({ path }) => !path.endsWith('.test.ts'))
  expect(files.length).toBeGreaterThan(70)
  expect(files.filter(({ text }) => positional(text).length > 0).map(({ path }) => path)).toEqual([
    // The statement of each step: its values are lists, of which it takes some rows.
    'src/store/runs/append.ts',
  ])
})

test.each([
  'insert into a (b, c, d, e, f, g, h) values ($1, $2, $3, $4, $5, $6, $7)',
  'insert into a (b, c, d, e, f, g, h)\n select $1, $2, $3, $4, $5, $6, $7\n from r where id = $1',
  'update a\n set b = $1, c = $2, d = $3, e = $4, f = $5, g = $6, h = $7\n where id = $8',
])('values by their positions are found: %s', sql => {
  expect(positional(`const text = \`${sql}\``)).toHaveLength(1)
})

test('a condition with many parameters passes', () => {
  expect(positional('`update a set b = $1 where c in ($2, $3, $4, $5, $6, $7, $8)`')).toEqual([])
})
