import { expect, test } from 'vitest'
import { z } from 'zod'
import { isPattern } from '../../../test/patterns/is-pattern.ts'
import missing from './missing-packages.json' with { type: 'json' }
import { kinds } from './missing-packages.ts'
import rules from './repair-rules.json' with { type: 'json' }
import { COMMAND_RULES } from './repair-rules.ts'

const text = z.string().min(1)
const pattern = text.refine(isPattern)
const names = Object.keys(rules.named_patterns)
/** A pattern, or the name of one. */
const reference = pattern.refine(value => !value.startsWith('@') || names.includes(value))

const Rule = z
  .strictObject({
    id: z.string().regex(/^[a-z\d_]+$/),
    why: text,
    command: reference,
    output: reference,
    ignore_case: z.literal(true).optional(),
    add: z.string().startsWith('-').optional(),
    replace: z.tuple([pattern, z.string()]).optional(),
    commands: z
      .union([
        z.literal('without_absent_package'),
        z.array(text.refine(value => !/\{(?!command\}|replaced\}|npm_config_registry%)/.test(value))),
      ])
      .optional(),
    whole: z.literal(true).optional(),
  })
  .refine(rule => (rule.add !== undefined) !== (rule.replace !== undefined || rule.commands !== undefined))
const Rules = z.strictObject({
  named_patterns: z.record(z.string().startsWith('@'), pattern),
  rules: z.array(Rule),
})

const Missing = z.array(
  z
    .strictObject({
      pattern: pattern.refine(value => /(?<!\\)\((?!\?)/.test(value), 'it names nothing by a group'),
      ignore_case: z.literal(true).optional(),
      missing: z.enum(Object.keys(kinds) as [string, ...string[]]).optional(),
      detail: text.optional(),
    })
    .refine(row => (row.missing === undefined) !== (row.detail === undefined)),
)

test('repair-rules.json has the form that its reader expects, and no id twice', () => {
  expect(Rules.safeParse(rules).error?.issues).toBeUndefined()
  expect(new Set(COMMAND_RULES.map(({ id }) => id)).size).toBe(COMMAND_RULES.length)
})

test('missing-packages.json has the form that its reader expects', () => {
  expect(Missing.safeParse(missing).error?.issues).toBeUndefined()
})

test('the forms refuse patterns that do not compile, unknown names and rows without an effect', () => {
  const [rule, row] = [rules.rules[0], missing[0]]
  const wrong = [
    { ...rule, command: '(' },
    { ...rule, command: '@nothing' },
    { ...rule, commands: ['{comand} --force'] },
    { ...rule, add: '--force' },
    { id: 'a', why: 'b', command: 'c', output: 'd' },
  ]
  expect(wrong.map(one => Rule.safeParse(one).success)).toEqual(wrong.map(() => false))
  const missed = [{ ...row, missing: 'programm' }, { pattern: 'no group', detail: 'x' }, { pattern: '(a)' }]
  expect(missed.map(one => Missing.safeParse([one]).success)).toEqual(missed.map(() => false))
})

test('a rule appends an option once, replaces a part, or runs other commands', () => {
  const changed = (id: string, command: string) =>
    COMMAND_RULES.find(rule => rule.id === id)?.to(command, '', [])
  expect(changed('npm_scripts', 'npm ci')).toEqual(['npm ci --ignore-scripts'])
  expect(changed('npm_scripts', 'npm ci --ignore-scripts')).toEqual(['npm ci --ignore-scripts'])
  expect(changed('uv_lock', 'uv sync --locked --all-extras')).toEqual(['uv sync --all-extras'])
  expect(changed('poetry_lock', 'poetry install --no-root')).toEqual([
    'poetry lock',
    'poetry install --no-root',
  ])
  expect(changed('make_default', 'make')).toEqual([])
  expect(changed('go_sum', 'go test {replaced}')).toEqual(['go mod tidy', 'go test {replaced}'])
})
