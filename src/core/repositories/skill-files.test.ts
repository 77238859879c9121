import { expect, test } from 'vitest'
import { readFrontMatter } from './front-matter.ts'
import { readCursorRule, readSkill, uniqueSkills } from './skill-files.ts'

const PATH = '.agents/skills/release/SKILL.md'
const skill = (text: string, path = PATH) => readSkill({ path, text })
const rule = (text: string) =>
  readCursorRule({ path: '.cursor/rules/ts.mdc', text, bytes: text.length, truncated: false })

test('front matter is read as YAML, and line by line where it is not valid', () => {
  expect(readFrontMatter('---\nname: a\ndescription: >\n  two\n  lines\n---\nbody\n')).toEqual({
    fields: { name: 'a', description: 'two lines\n' },
    body: 'body\n',
  })
  expect(
    readFrontMatter('\ufeff---\r\nglobs: *.ts\r\ndescription: use: when\r\nname: "q"\r\n---\r\nb'),
  ).toEqual({
    fields: { globs: '*.ts', description: 'use: when', name: 'q' },
    body: 'b',
  })
  expect(readFrontMatter('---\nglobs: [a, b]\nnested: {a: 1}\n---').fields).toEqual({ globs: 'a, b' })
})

test.each(['', 'text', 'a\n---\nname: x\n---\n', '---\nname: never ends', '--- \n'])(
  '%j has no front matter and stays whole',
  text => {
    expect(readFrontMatter(text)).toEqual({ fields: null, body: text })
  },
)

test('hostile front matter gives no fields, or harmless ones', () => {
  const bomb = `a: &a [x,x]\nb: &b [*a,*a]\nname: [*b,*b]`
  expect(readFrontMatter(`---\n${bomb}\n---\n`).fields).toEqual({
    a: '&a [x,x]',
    b: '&b [*a,*a]',
    name: '[*b,*b]',
  })
  expect(readFrontMatter(`---\n${'['.repeat(7_000)}\n---\nb`)).toEqual({ fields: {}, body: 'b' })
  const parts = '{},'.repeat(1_000)
  expect(readFrontMatter(`---\nname: x\nparts: [${parts}]\n---\n`).fields).toEqual({
    name: 'x',
    parts: `[${parts}]`,
  })
  expect(readFrontMatter(`---\nname: x\n${'- '.repeat(50_000)}\n---\n`).fields).toEqual({ name: 'x' })
})

test('a skill has one line each of name and description, within their limits', () => {
  expect(skill('---\nname: release\ndescription: |\n  Releases.\n  Use for tags.\n---\n')).toEqual({
    path: PATH,
    name: 'release',
    description: 'Releases. Use for tags.',
    note: null,
  })
  const long = skill(`---\nname: ${'n'.repeat(99)}\ndescription: ${'d'.repeat(5_000)}\n---\n`)
  expect([long?.name.length, long?.description.length]).toEqual([64, 1_024])
})

test('a skill without front matter is listed by its folder and first line, and people are informed', () => {
  expect(skill('\n# How to release\nrest')).toMatchObject({
    name: 'release',
    description: 'How to release',
    note: expect.stringContaining(`${PATH} has no front matter`),
  })
  expect(skill('---\nname: x\n---\n')).toMatchObject({
    name: 'x',
    description: '',
    note: expect.stringContaining('has no description'),
  })
})

test('a skill that only people may start is not listed', () => {
  expect(skill('---\nname: x\ndescription: y\ndisable-model-invocation: true\n---\n')).toBeNull()
})

test('of skills with the same name the first is listed, and people are informed of the other', () => {
  const two = ['.agents', '.claude'].flatMap(
    root => skill('---\nname: a\ndescription: b\n---\n', `${root}/skills/a/SKILL.md`) ?? [],
  )
  expect(uniqueSkills(two)).toEqual({
    skills: [two[0]],
    notes: ['.claude/skills/a/SKILL.md has the name of .agents/skills/a/SKILL.md, so it is not listed.'],
  })
})

test('a rule of Cursor counts always, for some files or tasks, or only when a person names it', () => {
  expect(rule('---\nalwaysApply: true\n---\nAlways.')).toMatchObject({
    kind: 'always',
    file: { text: 'Always.' },
  })
  expect(rule('No front matter.')).toMatchObject({ kind: 'always', file: { text: 'No front matter.' } })
  expect(rule('---\ndescription: Components\nglobs: *.tsx,*.ts\nalwaysApply: false\n---\nx')).toEqual({
    kind: 'listed',
    listed: { path: '.cursor/rules/ts.mdc', name: 'ts.mdc', description: 'for *.tsx,*.ts: Components' },
  })
  expect(rule('---\nalwaysApply: false\n---\nx')).toEqual({ kind: 'manual' })
})
