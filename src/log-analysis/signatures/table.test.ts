import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { isPattern } from '../../../test/patterns/is-pattern.ts'
import { signatures } from './table.ts'

const Patterns = z.array(z.string().min(1).refine(isPattern)).nonempty()
const Table = z.array(
  z.strictObject({
    code: z.string().regex(/^[a-z][a-z0-9_]*$/),
    patterns: Patterns,
    ignore_case: z.literal(true).optional(),
    near: Patterns.optional(),
    title: z.string().regex(/^\S.{1,60}[^.]$/),
    cause: z.string().min(1),
    remedy: z.string().min(1),
    general: z.literal(true).optional(),
    in_tests: z.literal(true).optional(),
  }),
)
const names = readdirSync(import.meta.dirname).filter(name => name.endsWith('.json'))
const tables = names.map(name => ({
  name,
  rows: JSON.parse(readFileSync(`${import.meta.dirname}/${name}`, 'utf8')) as unknown,
}))

test('each table has the form that its reader expects', () => {
  for (const { name, rows } of tables) expect(Table.safeParse(rows).error?.issues, name).toBeUndefined()
})

test('the form refuses patterns that do not compile, rows without one, and unknown fields', () => {
  const row = { code: 'a_code', patterns: ['a'], title: 'A title', cause: 'A cause.', remedy: 'A remedy.' }
  const wrong = [{ patterns: ['('] }, { patterns: [] }, { remedy: '' }, { pattern: 'a' }, { general: 'yes' }]
  expect(Table.safeParse([row]).success).toBe(true)
  for (const change of wrong)
    expect(Table.safeParse([{ ...row, ...change }]).success, JSON.stringify(change)).toBe(false)
})

test('every table is read, each code is one row, and a text names only groups that its patterns have', () => {
  const codes = tables.flatMap(({ rows }) => Table.parse(rows).map(({ code }) => code))
  expect(signatures.map(({ code }) => code).toSorted()).toEqual(codes.toSorted())
  expect(new Set(codes).size).toBe(codes.length)
  for (const { code, pattern, cause, remedy } of signatures) {
    const groups = (new RegExp(`${pattern.source}|`).exec('')?.length ?? 0) - 1
    for (const [, n] of `${cause} ${remedy}`.matchAll(/\$(\d)/g))
      expect(Number(n), code).toBeLessThanOrEqual(groups)
  }
})
